#!/bin/sh
# The web page and its engine.
#
#   scripts/web.sh engine    the engine as WebAssembly with its JavaScript module: target/web-pkg
#   scripts/web.sh build     the engine, and the page of web/ with it: target/web
#   scripts/web.sh test      compares the engine in Node with the command, to the last digit, and tests the page;
#                            installs Chromium where it can
#   scripts/web.sh bench     measures the engine in Node beside the native one
#
# The Rust target comes by rustup. wasm-opt makes the engine smaller; it is optional.
. "$(dirname "$0")/lib.sh"
set -e
triple=wasm32-unknown-unknown
package=$target/web-pkg
BINARYEN_VERSION=132.0.0

# Succeeds if the engine can be built.
has_target() {
    [ -d "$(rustc --print sysroot)/lib/rustlib/$triple" ] && return
    if ! command -v rustup >/dev/null || ! rustup target add $triple >/dev/null 2>&1; then
        echo "missing: the Rust target $triple (rustup target add $triple): the web page is not built"
        return 1
    fi
}

has_node() {
    command -v node >/dev/null && return
    echo "missing: node: $1"
    return 1
}

# Runs wasm-opt, by npm where the system's is too old for reference types.
wasm_opt() {
    if [ "$(wasm-opt --version 2>/dev/null | tr -dc 0-9 | cut -c 1-3)" -ge 116 ] 2>/dev/null; then
        wasm-opt "$@"
    elif command -v npm >/dev/null; then
        npm exec --yes --package=binaryen@$BINARYEN_VERSION -- wasm-opt "$@"
    else
        return 1
    fi
}

optimise() {
    # What Rust's target has, and what wasm-bindgen adds.
    if wasm_opt -O3 --enable-bulk-memory --enable-bulk-memory-opt --enable-mutable-globals \
        --enable-nontrapping-float-to-int --enable-sign-ext --enable-reference-types --enable-multivalue \
        -o "$1".opt "$1"; then
        mv "$1".opt "$1"
    else
        echo "missing: wasm-opt (npm's binaryen): the engine is larger and slower than it need be"
    fi
}

build_engine() {
    "$CARGO" build --release --locked -p unruffled-web --target $triple
    rm -rf "$package"
    "$CARGO" run -q --locked -p xtask --features web -- web \
        "$target/$triple/release/unruffled_web.wasm" "$package"
    optimise "$package"/unruffled_web_bg.wasm
    echo "the engine: $package, $(gzip -9 <"$package"/unruffled_web_bg.wasm | wc -c) octets compressed"
}

build_page() {
    if ! [ -e web/package.json ]; then
        echo "missing: web/package.json: the page is not built"
        return
    fi
    has_node "the page is not built" || return 0
    (cd web && npm ci --no-audit --no-fund && npm run build -- --outDir "$target"/web --emptyOutDir)
    echo "the page: $target/web; unruffled serve --open shows it"
}

# Tests the page that is built. Browsers that are missing are named and left out.
test_page() {
    command -v chromium >/dev/null || ! has_apt || apt_install chromium >/dev/null || true
    (cd web && npm run lint && npm test && npm run test:command)
    if [ -x "${CHROMIUM:-/usr/bin/chromium}" ]; then
        (cd web && npm run test:browser)
    else
        echo "missing: Chromium: the page is not tested in a browser"
    fi
}

case ${1-} in
engine) has_target && build_engine ;;
build)
    has_target || exit 0
    build_engine
    build_page
    ;;
test)
    has_target && has_node "the engine is not tested" || exit 0
    [ -e "$package"/unruffled_web_bg.wasm ] || build_engine
    [ -e "$target"/web/index.html ] || build_page
    : "${UNRUFFLED:=$target/release/unruffled}"
    export UNRUFFLED UNRUFFLED_WEB="$package"
    node --test crates/web/node/
    test_page
    ;;
bench)
    has_target && has_node "nothing is measured" || exit 0
    [ -e "$package"/unruffled_web_bg.wasm ] || build_engine
    "$CARGO" build -q --release --locked -p unruffled-web --example native
    UNRUFFLED_NATIVE="$target"/release/examples/native UNRUFFLED_WEB="$package" \
        node crates/web/node/bench.mjs
    ;;
*)
    echo "usage: scripts/web.sh engine|build|test|bench" >&2
    exit 2
    ;;
esac
