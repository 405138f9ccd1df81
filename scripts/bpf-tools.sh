#!/bin/sh
# Installs what the kernel's congestion control is built with: clang, which compiles BPF programs, and
# what libbpf needs. Where that is not possible, the build goes on without.
. "$(dirname "$0")/lib.sh"
if bpf_is_ready; then
    exit 0
fi
if ! bpf_path_is_usable; then
    missing="libbpf cannot be built where the path has spaces"
else
    missing="missing: clang for BPF, pkg-config, libelf or zlib"
    if [ "$(uname)" = Linux ] && has_apt; then
        echo "$missing: installing"
        apt_install clang llvm make pkg-config libelf-dev zlib1g-dev && exit 0
    fi
fi
echo "$missing: built without unruffled attach, detach, run, status"
