#!/usr/bin/env bash
# Draws docs/report.png: the top of the report of `unruffled compare`, as a browser shows it.
#
#   docs/picture.sh [UNRUFFLED]      default target/release/unruffled
#
# Needs Chromium. With pngquant installed the picture is smaller.
set -euo pipefail
unruffled=$(realpath "${1:-target/release/unruffled}")
cd "$(dirname "$0")"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
    { echo "picture.sh: Chromium is missing" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$unruffled" compare --report "$work/report.html" >/dev/null
# Chromium refuses its sandbox to root.
sandbox=()
[ "$(id -u)" = 0 ] && sandbox=(--no-sandbox)
"$browser" --headless=new "${sandbox[@]}" --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" \
    --force-device-scale-factor=1.25 --window-size=1060,1090 \
    --screenshot="$work/report.png" "file://$work/report.html" 2>/dev/null
if command -v pngquant >/dev/null; then
    pngquant --force --output "$work/report.png" "$work/report.png"
fi
mv "$work/report.png" report.png
ls -l report.png
