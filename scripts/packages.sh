#!/bin/sh
# Builds the packages of the command into target/packages: a .deb, a .rpm, a tarball and the bill of
# materials (CycloneDX).
#
#   scripts/packages.sh tools     installs cargo-deb, cargo-generate-rpm and cargo-cyclonedx below target
#   scripts/packages.sh build     builds the command and the packages
#
#   PROFILE   the cargo profile (release); another one is for trying the packages
#   ARCH      the architecture as Rust names it: this machine's, which is the default, or aarch64
#   BINARY    the command, if it is built already
#
# The command is optimised by profiles (release-pgo.sh) where that can be done: with rustup's llvm-tools, for
# this machine's architecture, and in the profile release. A line says where it is not.
#
# The command has the kernel's part, so this ends with an error where that cannot be built.
. "$(dirname "$0")/lib.sh"
set -e
: "${PROFILE:=release}" "${ARCH:=$(host_triple | cut -d- -f1)}"
DEB_VERSION=3.8.0
RPM_VERSION=0.21.1
CYCLONEDX_VERSION=0.5.9
tools=$target/packaging
out=$target/packages
triple=$ARCH-unknown-linux-gnu
# cargo-deb and cargo-generate-rpm read target/release of Cargo.toml as this folder.
staging=$target/$triple/release/staging
case $ARCH in
"$(uname -m)" | aarch64) ;;
*)
    echo "ARCH=$ARCH: expected $(uname -m) or aarch64" >&2
    exit 2
    ;;
esac
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)
# The same sources give the same bytes.
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2>/dev/null || date +%s)}"
export SOURCE_DATE_EPOCH

install_tools() {
    "$CARGO" install -q --locked --root "$tools" "cargo-deb@$DEB_VERSION" \
        "cargo-generate-rpm@$RPM_VERSION" "cargo-cyclonedx@$CYCLONEDX_VERSION"
    [ "$ARCH" = "$(uname -m)" ] || scripts/aarch64.sh tools
}

# Adds to the bill of materials on standard input the libraries that are linked statically and are no Rust
# packages, and removes this folder's path from it.
complete_bill() {
    elf=$(pkg-config --modversion libelf) zlib=$(pkg-config --modversion zlib) python3 -c '
import json, os, sys
bill = json.loads(sys.stdin.read().replace(f"path+file://{os.getcwd()}/", "path:"))
for name, key, licence in [
    ("elfutils", "elf", "LGPL-3.0-or-later OR GPL-2.0-or-later"), ("zlib", "zlib", "Zlib"),
]:
    version = os.environ[key]
    reference = f"pkg:generic/{name}@{version}"
    bill["components"].append({
        "type": "library", "bom-ref": reference, "name": name, "version": version, "scope": "required",
        "licenses": [{"expression": licence}], "purl": reference,
    })
json.dump(bill, sys.stdout, indent=1, sort_keys=True)'
}

# Writes the bill of materials of the command to the file $1.
write_bill() {
    # The tool writes a file beside each Cargo.toml of the workspace.
    trap 'rm -f crates/*/unruffled-bill.json xtask/unruffled-bill.json' EXIT
    "$tools"/bin/cargo-cyclonedx cyclonedx -qq --manifest-path crates/cli/Cargo.toml --format json \
        --spec-version 1.5 --features bpf --target "$triple" --override-filename unruffled-bill
    complete_bill <crates/cli/unruffled-bill.json >"$1"
}

# Fills $staging with the files of the packages.
stage() {
    rm -rf "$staging"
    PREFIX=/usr DESTDIR=$staging/root scripts/install.sh install
    PREFIX=/usr/local DESTDIR=$staging/local scripts/install.sh install
    strip_command "$staging"/root/usr/bin/unruffled
    cp "$staging"/root/usr/bin/unruffled "$staging"/local/usr/local/bin/unruffled
    doc=$staging/root/usr/share/doc/unruffled
    write_bill "$staging"/unruffled.cdx.json
    gzip -9n <"$staging"/unruffled.cdx.json >"$doc"/unruffled.cdx.json.gz
    cp packaging/copyright "$doc"/copyright
    mv "$doc"/CHANGELOG.md "$doc"/changelog
    gzip -9n "$doc"/changelog "$staging"/root/usr/share/man/man1/*
    gzip -9n >"$doc"/changelog.Debian.gz <<EOF
unruffled ($version-1) unstable; urgency=medium

  * Version $version. /usr/share/doc/unruffled/changelog.gz lists the changes.

 -- The Unruffled developers <maintainers@unruffled.invalid>  $(date -R -u -d "@$SOURCE_DATE_EPOCH")
EOF
}

strip_command() {
    case $ARCH in
    aarch64) aarch64-linux-gnu-strip "$1" ;;
    *) strip "$1" ;;
    esac
}

# The tarball's files are those of a prefix, and unruffled.toml for /etc.
make_tarball() {
    name=unruffled-$version-$ARCH-linux-gnu
    mv "$staging"/local/usr/local "$staging/$name"
    mv "$staging"/local/etc "$staging/$name"/etc
    cp "$staging"/unruffled.cdx.json "$staging/$name"/share/doc/unruffled/
    tar -C "$staging" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
        -c "$name" | gzip -9n >"$out/$name".tar.gz
}

# Builds the web page, which the packages have.
build_page() {
    [ -e "$target"/web/index.html ] || scripts/web.sh build
    if ! [ -e "$target"/web/index.html ]; then
        echo "missing: $target/web: packages need the web page, which make web builds" >&2
        exit 1
    fi
}

build_command() {
    features=$(scripts/features.sh)
    if [ -z "$features" ]; then
        echo "missing: clang for BPF, make, pkg-config, libelf or zlib: packages need the kernel's part" >&2
        exit 1
    fi
    if [ "$PROFILE" != release ] || [ "$ARCH" != "$(uname -m)" ]; then
        echo "no profile-guided optimisation: for the profile release and $(uname -m) only"
    elif missing=$(scripts/release-pgo.sh check); then
        scripts/release-pgo.sh
        BINARY=$target/pgo/unruffled
        export BINARY
        return
    else
        echo "no profile-guided optimisation: $missing"
    fi
    folder=$PROFILE
    [ "$PROFILE" != dev ] || folder=debug
    # shellcheck disable=SC2086 # $features is two words
    set -- "$CARGO" build --profile "$PROFILE" --locked -p unruffled $features
    case $ARCH in
    "$(uname -m)")
        "$@"
        BINARY=$target/$folder/unruffled
        ;;
    aarch64)
        scripts/aarch64.sh with "$@" --target "$triple"
        BINARY=$target/$triple/$folder/unruffled
        RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
        ;;
    esac
    export BINARY RUNNER
}

dpkg_architecture() {
    case $ARCH in
    aarch64) echo arm64 ;;
    x86_64) echo amd64 ;;
    *) echo "$ARCH" ;;
    esac
}

build() {
    [ -n "${BINARY:-}" ] || build_command
    build_page
    stage
    mkdir -p "$out"
    for kind in tar.gz rpm cdx.json; do
        rm -f "$out"/unruffled-*"$ARCH"*."$kind"
    done
    rm -f "$out"/unruffled_*_"$(dpkg_architecture)".deb
    make_tarball
    cp "$staging"/unruffled.cdx.json "$out/unruffled-$version-$ARCH.cdx.json"
    "$tools"/bin/cargo-deb -q -p unruffled --no-build --no-strip --deb-revision 1 \
        --target "$triple" --output "$out"/
    "$tools"/bin/cargo-generate-rpm -p crates/cli --target "$triple" --target-dir "$target" \
        --output "$out"/
    ls -l "$out"
}

case ${1-} in
tools) install_tools ;;
build) build ;;
*)
    echo "usage: scripts/packages.sh tools|build" >&2
    exit 2
    ;;
esac
