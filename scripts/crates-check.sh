#!/bin/sh
# Packs each crate that is published as for crates.io, and checks that the archive has a README and the
# licences. CRATES_VERIFY=1 also compiles each of them from its archive alone, which takes minutes.
. "$(dirname "$0")/lib.sh"
set -e
verify=--no-verify
[ -z "${CRATES_VERIFY:-}" ] || verify=
excluded="--exclude unruffled-python --exclude xtask"

# shellcheck disable=SC2086 # $verify is none or one word, $excluded several
"$CARGO" package -q --workspace --locked --allow-dirty $verify $excluded
for manifest in crates/*/Cargo.toml; do
    grep -q '^publish = false' "$manifest" && continue
    name=$(sed -n 's/^name = "\(.*\)"$/\1/p' "$manifest" | head -n 1)
    version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)
    files=$(tar -tzf "$target/package/$name-$version.crate")
    for file in README.md LICENSE-APACHE LICENSE-MIT src/lib.rs; do
        if ! echo "$files" | grep -qx "$name-$version/$file"; then
            echo "$name: missing: $file" >&2
            exit 1
        fi
    done
    for key in description keywords categories license; do
        if ! tar -xzOf "$target/package/$name-$version.crate" "$name-$version/Cargo.toml" |
            grep -q "^$key = "; then
            echo "$name: missing: $key" >&2
            exit 1
        fi
    done
done
