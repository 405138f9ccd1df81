#!/bin/sh
# Builds for 64-bit ARM on another machine, and runs what is built by QEMU's user mode.
#
#   scripts/aarch64.sh tools            installs the compilers, and Debian's libelf and zlib below target
#   scripts/aarch64.sh with COMMAND...  runs a command, such as cargo, with the settings for this
#   scripts/aarch64.sh test             the tests of the engine and of the resequencer
#
# On Debian as root the tools are fetched; elsewhere this names what is missing. The system's list of
# architectures is not changed.
. "$(dirname "$0")/lib.sh"
set -e
TRIPLE=aarch64-unknown-linux-gnu
root=$target/aarch64
compiler=$root/cc
libraries=$root/usr/lib/aarch64-linux-gnu

fail() {
    echo "aarch64: $*" >&2
    exit 1
}

has_compilers() {
    command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null
}

install_tools() {
    if ! has_compilers && has_apt; then
        apt_install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
    fi
    has_compilers || fail "missing: gcc-aarch64-linux-gnu or qemu-user"
    if ! [ -d "$(rustc --print sysroot)/lib/rustlib/$TRIPLE" ]; then
        rustup target add $TRIPLE || fail "missing: Rust's library for $TRIPLE (rustup target add)"
    fi
    [ -e "$libraries"/libelf.a ] || fetch_libraries
    # Finds these libraries after the compiler's own.
    cat >"$compiler" <<EOF
#!/bin/sh
exec aarch64-linux-gnu-gcc -B"$libraries/" "\$@" -idirafter "$root/usr/include" \\
    -idirafter "$root/usr/include/aarch64-linux-gnu" -L"$libraries"
EOF
    chmod +x "$compiler"
}

# Unpacks Debian's libelf and zlib for ARM into $root, by a state of apt that is not the system's.
fetch_libraries() {
    has_apt || fail "missing: libelf and zlib for ARM, which are fetched as root on Debian"
    state=$root/apt
    mkdir -p "$state"/lists/partial "$state"/cache/archives/partial
    options="-qq -o APT::Architectures::=amd64 -o APT::Architectures::=arm64 -o Dir::State::Lists=$state/lists"
    options="$options -o Dir::Cache=$state/cache -o APT::Sandbox::User=root"
    # shellcheck disable=SC2086 # several words
    apt-get $options update
    (
        cd "$state"
        # shellcheck disable=SC2086
        apt-get $options download libelf-dev:arm64 libelf1:arm64 zlib1g-dev:arm64 zlib1g:arm64
    )
    for package in "$state"/*_arm64.deb; do
        dpkg-deb -x "$package" "$root"
    done
    rm -rf "$state"
}

# Runs a command with the settings that cargo, cc and pkg-config read.
with_settings() {
    CC_aarch64_unknown_linux_gnu=$compiler \
        CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=$compiler \
        CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu" \
        PKG_CONFIG_ALLOW_CROSS=1 PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$libraries/pkgconfig \
        "$@"
}

case ${1-} in
tools) install_tools ;;
with)
    shift
    with_settings "$@"
    ;;
test)
    install_tools
    with_settings "$CARGO" test --locked --target $TRIPLE -p unruffled-units -p unruffled-lateness \
        -p unruffled-tcp -p unruffled-resequence
    ;;
*)
    echo "usage: scripts/aarch64.sh tools|with COMMAND|test" >&2
    exit 2
    ;;
esac
