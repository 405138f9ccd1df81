# Sourced by the scripts of this folder, which the Makefile calls and which also run on their own.
# Moves to the repository's root and sets:
#
#   CARGO             the cargo command
#   CARGO_TARGET_DIR  the build folder as an absolute path, exported: child processes use it too
#   target            the same path
#
# Paths may contain spaces, so every use is quoted.
cd "$(dirname "$0")/.." || exit 1
: "${CARGO:=cargo}"
target=${CARGO_TARGET_DIR:-target}
case $target in /*) ;; *) target=$PWD/$target ;; esac
export CARGO_TARGET_DIR="$target"

# Succeeds if `apt-get install` can be used.
has_apt() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null
}

apt_install() {
    DEBIAN_FRONTEND=noninteractive apt-get update -qq &&
        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@"
}

# Succeeds if this process may create the namespaces and TUN devices of tests with real packets.
has_real_packets() {
    unshare --net --pid --fork true 2>/dev/null && [ -w /dev/net/tun ]
}

# libbpf's own Makefile accepts no path with spaces.
bpf_path_is_usable() {
    case $target in *[[:space:]]*) return 1 ;; esac
}

# Succeeds if the kernel's congestion control can be built: clang compiles for BPF, and what libbpf
# needs is installed.
bpf_is_ready() {
    for tool in clang make pkg-config; do
        command -v $tool >/dev/null || return 1
    done
    [ "$(uname)" = Linux ] && bpf_path_is_usable && pkg-config --exists libelf zlib &&
        clang -target bpf -mcpu=v3 -x c -c -o /dev/null /dev/null 2>/dev/null
}

host_triple() {
    rustc -vV | sed -n 's/^host: //p'
}
