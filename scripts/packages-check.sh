#!/bin/sh
# Checks the packages of target/packages: what they link to, and that each can be installed, used and removed
# in a new Debian without a network. Needs root, debootstrap and a Debian mirror for the first run.
#
#   scripts/packages-check.sh [SUITE...]     default: bookworm trixie
#
#   KINDS    the kinds of packages (deb tar rpm)
#
# The command attaches itself to the running kernel for some seconds, within a network namespace of its own.
. "$(dirname "$0")/lib.sh"
set -e
packages=$target/packages
cache=$target/packages-check
[ $# -gt 0 ] || set -- bookworm trixie

fail() {
    echo "packages: $*" >&2
    exit 1
}

need() {
    command -v "$1" >/dev/null && return
    has_apt && apt_install "${2:-$1}" >/dev/null 2>&1 && return
    fail "missing: $1"
}

# The one file of $packages that matches the pattern.
package() {
    found=$(find "$packages" -name "$1")
    [ -f "$found" ] || fail "$packages: expected one $1: make packages builds it"
    echo "$found"
}

# What the command needs of the system where it runs.
check_command() {
    echo "shared libraries of the command:"
    libraries=$(objdump -p "$1" | awk '/NEEDED/ { print $2 }')
    echo "$libraries" | sed 's/^/    /'
    others=$(echo "$libraries" | grep -Ev '^(libc|libm|libgcc_s|ld-linux-x86-64|ld-linux-aarch64)\.so' || true)
    [ -z "$others" ] || fail "the command needs more than glibc: $others"
    echo "newest version of glibc's symbols: $(objdump -T "$1" |
        grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)"
}

# base SUITE [PROGRAM]: the archive of a new system, which debootstrap makes once.
base() {
    archive=$cache/$1${2:+-$2}.tar
    if ! [ -e "$archive" ]; then
        mkdir -p "$cache"
        folder=$(mktemp -d)
        debootstrap --variant=minbase ${2:+"--include=$2"} "$1" "$folder" >"$cache/$1.log" 2>&1 || {
            rm -rf "$folder"
            fail "debootstrap $1: see $cache/$1.log"
        }
        tar -C "$folder" -cf "$archive.part" .
        mv "$archive.part" "$archive"
        rm -rf "$folder"
    fi
    echo "$archive"
}

# check_in SUITE KIND FILE [PROGRAM]: runs packaging/check.sh in a new system without a network.
check_in() (
    echo "== $2 in Debian $1"
    archive=$(base "$1" ${4:+"$4"})
    root=$(mktemp -d)
    trap 'rm -rf "$root"' EXIT
    tar -C "$root" -xf "$archive"
    cp "$3" "$root/package.$2"
    cp packaging/check.sh "$root"/check.sh
    # The mounts end with the namespace.
    unshare --net --mount --pid --fork sh -ec '
        mount --make-rprivate /
        mount -t proc proc "$1"/proc
        mount --rbind /sys "$1"/sys
        mount -t tmpfs tmpfs "$1"/run
        mount --bind /dev "$1"/dev
        exec chroot "$1" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            LC_ALL=C DEBIAN_FRONTEND=noninteractive sh /check.sh "$2" "/package.$2"
    ' sh "$root" "$2"
)

[ "$(id -u)" = 0 ] || fail "expected root, for chroot and network namespaces"
need debootstrap
need rpm
need objdump binutils
deb=$(package 'unruffled_*.deb')
rpm=$(package 'unruffled-*.rpm')
tarball=$(package 'unruffled-*.tar.gz')
opened=$(mktemp -d)
trap 'rm -rf "$opened"' EXIT
dpkg-deb -x "$deb" "$opened"
check_command "$opened"/usr/bin/unruffled
rpm -qlp "$rpm" | sort >"$opened"/rpm-files
for path in /usr/bin/unruffled /etc/unruffled.toml /usr/share/doc/unruffled/LICENSE-MIT \
    /usr/share/doc/unruffled/unruffled.cdx.json.gz; do
    grep -qx "$path" "$opened"/rpm-files || fail "$rpm: missing: $path"
    [ -s "$opened$path" ] || fail "$deb: missing: $path"
done
rpm -qp --configfiles "$rpm" | grep -qx /etc/unruffled.toml || fail "$rpm: no settings"
if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error "$deb"
fi
for suite; do
    for kind in ${KINDS:-deb tar rpm}; do
        case $kind in
        deb) check_in "$suite" deb "$deb" ;;
        tar) check_in "$suite" tar "$tarball" ;;
        rpm) check_in "$suite" rpm "$rpm" rpm ;;
        esac
    done
done
