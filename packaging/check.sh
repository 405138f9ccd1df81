#!/bin/sh
# Installs a package in this system, uses the command, removes the package, and compares the system with
# what it was before. For scripts/packages-check.sh, which runs it in a new system without a network.
#
#   check.sh deb|rpm|tar FILE
set -eu
kind=$1
file=$2
work=$(mktemp -d)

fail() {
    echo "$kind: $*" >&2
    exit 1
}

# Every path of the system with its type, mode, size and target, except what a package manager writes down.
list_files() {
    find / /run -xdev \( -path /proc -o -path /sys -o -path /dev -o -path "$work" -o -path "$file" \
        -o -path /var/lib/dpkg -o -path /var/log/dpkg.log -o -path /var/lib/rpm -o -path /usr/lib/sysimage \
        -o -path /var/cache/ldconfig -o -path /root/.rpmdb \) -prune -o -printf '%p %y %m %s %l\n' |
        awk '{ if ($2 == "d") $4 = ""; print }' | sort
}

# The state of the kernel that `attach` changes.
show_kernel() {
    cd /proc/sys/net/ipv4
    grep -H . tcp_congestion_control tcp_available_congestion_control tcp_timestamps
    find /sys/fs/bpf -mindepth 1 | sort
    cd /
}

# same WHEN: the system is as it was before the installation.
same() {
    list_files >"$work"/files-after
    diff "$work"/files-before "$work"/files-after || fail "$1, files differ"
    same_kernel "$1"
}

same_kernel() {
    show_kernel >"$work"/kernel-after
    diff "$work"/kernel-before "$work"/kernel-after || fail "$1, the kernel differs"
}

is_default() {
    [ "$(cat /proc/sys/net/ipv4/tcp_congestion_control)" = unruffled ]
}

# Uses the command, and leaves it attached.
use() {
    unruffled --version | grep -q "^unruffled [0-9]" || fail "no version"
    unruffled attach --config /etc/unruffled.toml
    is_default || fail "attach: not the default"
    unruffled status || fail "status"
    unruffled detach
    same_kernel "after detach"
    unruffled detach | grep -q "nothing is attached" || fail "detach: a second time"
    unruffled attach --config /etc/unruffled.toml
}

# is_installed PREFIX ZSH_FOLDER
is_installed() {
    for path in bin/unruffled lib/systemd/system/unruffled.service lib/systemd/system/unruffled-all.service \
        lib/systemd/system/unruffled-resequence.service \
        share/bash-completion/completions/unruffled share/fish/vendor_completions.d/unruffled.fish \
        "share/zsh/$2/_unruffled"; do
        [ -s "$1/$path" ] || fail "missing: $1/$path"
    done
    [ -s /etc/unruffled.toml ] || fail "missing: /etc/unruffled.toml"
    grep -q "^ExecStart=$1/bin/unruffled attach" "$1"/lib/systemd/system/unruffled.service ||
        fail "unruffled.service: another path than $1/bin"
    pages=$(find "$1"/share/man/man1 -name 'unruffled*' | wc -l)
    [ "$pages" -gt 10 ] || fail "$pages man pages"
}

list_files >"$work"/files-before
show_kernel >"$work"/kernel-before
case $kind in
deb)
    dpkg -i "$file"
    is_installed /usr vendor-completions
    use
    echo "# by hand" >>/etc/unruffled.toml
    dpkg -i "$file" # as an upgrade
    grep -q "by hand" /etc/unruffled.toml || fail "an upgrade loses settings"
    is_default || fail "an upgrade detaches"
    dpkg -r unruffled
    same_kernel "after the removal"
    [ -e /etc/unruffled.toml ] || fail "a removal loses settings"
    [ ! -e /usr/bin/unruffled ] || fail "the command is not removed"
    dpkg -P unruffled
    ! dpkg -s unruffled 2>/dev/null || fail "dpkg still has it"
    same "after the purge"
    # At once, while attached.
    dpkg -i "$file"
    unruffled attach --default
    dpkg -P unruffled
    same "after a purge at once"
    ;;
rpm)
    # The database is this system's own; its packages are another manager's.
    rpm -i --nodeps "$file"
    is_installed /usr site-functions
    use
    echo "# by hand" >>/etc/unruffled.toml
    rpm -U --nodeps --replacepkgs "$file"
    grep -q "by hand" /etc/unruffled.toml || fail "an upgrade loses settings"
    is_default || fail "an upgrade detaches"
    rpm -e unruffled
    [ ! -e /usr/bin/unruffled ] || fail "the command is not removed"
    # rpm keeps settings that were changed.
    rm /etc/unruffled.toml.rpmsave
    same "after the removal"
    ;;
tar)
    tar -xzf "$file" -C /usr/local --strip-components=1 --no-same-owner --keep-directory-symlink
    mv /usr/local/etc/unruffled.toml /etc
    is_installed /usr/local site-functions
    use
    unruffled detach
    same_kernel "after detach"
    ;;
esac
rm -rf "$work"
echo "$kind: passed"
