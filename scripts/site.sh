#!/bin/sh
# Builds the documentation as a site: target/site, a folder for any file server.
#
#   scripts/site.sh tools     installs mdBook into target/tools, if it is not there in this version
#   scripts/site.sh build     writes the site and checks its links; nothing is fetched
#
# target/book has the pages as mdBook reads them: those of docs, and generated ones. rustdoc becomes api/ if
# it is in target/doc; the page becomes play/ if it is in target/web, or if npm can build it.
#
#   UNRUFFLED   the command that writes generated pages (target/release/unruffled)
. "$(dirname "$0")/lib.sh"
set -e
mdbook_version=0.5.4
mdbook=$target/tools/mdbook-$mdbook_version/bin/mdbook

tools() {
    [ -x "$mdbook" ] && return
    # Optimised code would take twice as long to build as all runs of a day.
    CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_LTO=off CARGO_TARGET_DIR="$target"/tools/build \
        "$CARGO" install --quiet --locked --root "${mdbook%/bin/mdbook}" \
        --no-default-features --features search mdbook --version "=$mdbook_version"
    rm -rf "$target"/tools/build
}

# Writes the pages that are generated from the code: those of the reference and of the papers.
generate() {
    : "${UNRUFFLED:=$target/release/unruffled}"
    if [ -x scripts/book.sh ] && [ -x "$UNRUFFLED" ]; then
        scripts/book.sh "$UNRUFFLED" "$book"/src
    else
        echo "site: without generated pages: expected scripts/book.sh and $UNRUFFLED"
    fi
    if command -v "${PYTHON:-python3}" >/dev/null; then
        mkdir -p "$book"/src/reference
        "${PYTHON:-python3}" scripts/python-reference.py python/unruffled >"$book"/src/reference/python.md
    else
        echo "site: without the reference of the Python package, which needs python3"
    fi
}

# Builds the page, if there is none yet and npm is there.
build_page() {
    [ -e "$target"/web/index.html ] && return
    if grep -q '^web:' Makefile && command -v npm >/dev/null; then
        "${MAKE:-make}" web || echo "site: without the page, which could not be built"
    fi
}

# put_foreign FOLDER PART HINT: copies what another rule has built, or says how it is built.
put_foreign() {
    mkdir -p "$site/$2"
    if [ -d "$1" ]; then
        cp -r "$1"/. "$site/$2"
    fi
    [ -e "$site/$2"/index.html ] || list_folder "$site/$2" "$3" >"$site/$2"/index.html
}

# Prints a page with the folders that have pages.
list_folder() {
    echo '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Unruffled</title>'
    echo '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
    echo "<h1>Unruffled</h1><p>$2</p><ul>"
    for page in "$1"/unruffled*/index.html; do
        [ -e "$page" ] || continue
        name=$(basename "$(dirname "$page")")
        echo "<li><a href=\"$name/index.html\">$name</a></li>"
    done
    echo '</ul></html>'
}

build() {
    book=$target/book
    site=$target/site
    rm -rf "$book" "$site"
    mkdir -p "$book"/src
    generate
    "$CARGO" xtask site assemble "$book"/src
    mv "$book"/src/book.toml "$book"/src/theme "$book"
    "$mdbook" build --dest-dir "$site" "$book"
    build_page
    put_foreign "$target"/doc api "The reference of the crates. <code>cargo doc --workspace --no-deps</code> builds it."
    put_foreign "$target"/web play "The playground. <code>make web</code> builds it."
    "$CARGO" xtask site check "$site"
    echo "The site: file://$site/index.html"
}

case ${1:-} in
    tools) tools ;;
    build) build ;;
    *) sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
