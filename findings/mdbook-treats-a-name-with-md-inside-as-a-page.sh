#!/bin/sh
# mdBook 0.5.4: a link to a file whose name only contains ".md" leads to a page that does not exist.
#
# Expected: links to pages (`page.md`) become links to `page.html`, and links to other files stay as they are:
#           `notes.md.txt` is a text file, which mdBook copies into the book under its own name.
# Seen:     the file is copied as `notes.md.txt`, but the link to it becomes `notes.html`, which is not in the
#           book. `notes.markdown.txt` beside it stays as it is. `mdbook build` says nothing of it.
#
# Whoever puts copies of sources beside the pages of a book names them without ".md" in the middle.
#
# Needs cargo; builds mdBook in a temporary folder, some minutes.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_TARGET_DIR=$work/build \
    cargo install -q --locked --no-default-features --root "$work" mdbook --version =0.5.4

mkdir -p "$work/book/src"
cd "$work/book"
printf '[book]\ntitle = "A book"\n' >book.toml
printf '# Summary\n\n- [Page](page.md)\n' >src/SUMMARY.md
printf '# Page\n\n[one](notes.md.txt) [two](notes.markdown.txt)\n' >src/page.md
echo text | tee src/notes.md.txt >src/notes.markdown.txt
"$work/bin/mdbook" build >log 2>&1

links=$(grep -o 'href="notes[^"]*"' book/page.html | tr '\n' ' ')
echo "links: $links"
echo "files: $(cd book && echo notes*)"
echo "lines of the log about it: $(grep -c notes log || true)"
[ "$links" = 'href="notes.html" href="notes.markdown.txt" ' ] && [ -e book/notes.md.txt ] && ! [ -e book/notes.html ]
