#!/bin/sh
# maturin 1.16.0 (PyPI): the source archive of one crate of a workspace cannot be built if pyproject.toml says
# `locked = true`.
#
# Guess:     `maturin sdist` writes an archive that pip builds: its lock file is that of the crates in it.
# Behaviour: the archive has the lock file of the whole workspace, and the workspace's manifest without the members that
#            are left out. Cargo would take their dependencies out of the lock file, which `--locked` forbids. The sdist
#            itself is made without an error; without `locked` it builds with the same versions.
# Seen:      locked: cannot update the lock file; not locked: built
# So who ships both wheels and a source archive passes --locked on the command line of the wheels only. Needs cargo.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check maturin==1.16.0
mkdir -p "$work/packed/src" "$work/other/src"
cd "$work"
printf '[workspace]\nresolver = "3"\nmembers = ["packed", "other"]\n' > Cargo.toml
printf '[package]\nname = "packed"\nversion = "0.1.0"\nedition = "2024"\n' > packed/Cargo.toml
printf '[package]\nname = "other"\nversion = "0.1.0"\nedition = "2024"\n[dependencies]\nlibm = "=0.2.11"\n' > other/Cargo.toml
echo 'fn main() {}' > packed/src/main.rs
: > other/src/lib.rs
cargo generate-lockfile -q
# outcome LOCKED: whether pip builds the source archive.
outcome() {
    cat > pyproject.toml << TOML
[build-system]
requires = ["maturin==1.16.0"]
build-backend = "maturin"
[project]
name = "packed"
version = "0.1.0"
[tool.maturin]
bindings = "bin"
manifest-path = "packed/Cargo.toml"
locked = $1
TOML
    rm -rf dist
    venv/bin/maturin sdist --out dist > log 2>&1
    if venv/bin/pip wheel -q --no-deps --disable-pip-version-check -w wheels dist/packed-0.1.0.tar.gz > log 2>&1; then
        echo built
    else
        grep -o 'cannot update the lock file' log | head -n 1
    fi
}
seen="locked: $(outcome true); not locked: $(outcome false)"
echo "$seen"
[ "$seen" = "locked: cannot update the lock file; not locked: built" ]
