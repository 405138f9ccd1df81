#!/bin/sh
# Installs or removes the command with its man pages, shell completions, systemd units, settings and
# documentation.
#
#   scripts/install.sh install|uninstall
#
#   PREFIX       where the files belong (/usr/local)
#   DESTDIR      a folder in place of the root, for packages
#   SYSCONFDIR   the folder of unruffled.toml (/etc)
#   UNITDIR      the folder of the systemd units (PREFIX/lib/systemd/system)
#   ZSHDIR       the folder of zsh's completions (PREFIX/share/zsh/site-functions)
#   PROFILE      the cargo profile whose command is installed (release)
#   BINARY       the command itself (target/PROFILE/unruffled)
#   RUNNER       what runs the command if it is for another machine, such as "qemu-aarch64 -L ROOT"
. "$(dirname "$0")/lib.sh"
set -e
: "${PREFIX:=/usr/local}" "${DESTDIR:=}" "${SYSCONFDIR:=/etc}" "${PROFILE:=release}" "${RUNNER:=}"
: "${UNITDIR:=$PREFIX/lib/systemd/system}" "${ZSHDIR:=$PREFIX/share/zsh/site-functions}"
: "${BINARY:=$target/$PROFILE/unruffled}"
share=$DESTDIR$PREFIX/share
settings=$DESTDIR$SYSCONFDIR/unruffled.toml

# put MODE SOURCE FILE: FILE is a path without DESTDIR.
put() {
    mkdir -p "$DESTDIR$(dirname "$3")"
    install -m "$1" "$2" "$DESTDIR$3"
}

# put_unit NAME: the unit runs the installed command and reads the installed settings.
put_unit() {
    sed -e "s|/usr/local/bin/|$PREFIX/bin/|" -e "s|/etc/unruffled.toml|$SYSCONFDIR/unruffled.toml|" \
        "docs/$1" >"$generated/$1"
    put 644 "$generated/$1" "$UNITDIR/$1"
}

install_all() {
    if ! [ -x "$BINARY" ]; then
        echo "missing: $BINARY: expected the command, which make build builds" >&2
        exit 1
    fi
    generated=$(mktemp -d)
    trap 'rm -rf "$generated"' EXIT
    # shellcheck disable=SC2086 # $RUNNER is none or several words
    $RUNNER "$BINARY" generate "$generated"
    # shellcheck disable=SC2086
    $RUNNER "$BINARY" book "$generated" --only reference

    put 755 "$BINARY" "$PREFIX/bin/unruffled"
    for page in "$generated"/man/man1/*; do
        put 644 "$page" "$PREFIX/share/man/man1/${page##*/}"
    done
    for file in bash-completion/completions/unruffled fish/vendor_completions.d/unruffled.fish; do
        put 644 "$generated/$file" "$PREFIX/share/$file"
    done
    put 644 "$generated"/zsh/site-functions/_unruffled "$ZSHDIR/_unruffled"
    put_unit unruffled.service
    put_unit unruffled-all.service
    put_unit unruffled-resequence.service
    for file in README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT packaging/unruffled.toml docs/*.md docs/*/*.md \
        docs/*.svg docs/*.png docs/*.yaml docs/*/*.svg docs/monitoring/* docs/reports/*; do
        put 644 "$file" "$PREFIX/share/doc/unruffled/${file#packaging/}"
    done
    for page in "$generated"/reference/*.md; do
        put 644 "$page" "$PREFIX/share/doc/unruffled/docs/reference/${page##*/}"
    done
    # The web page, where make web has built it.
    if [ -e "$target"/web/index.html ]; then
        (cd "$target"/web && find . -type f) | while read -r file; do
            put 644 "$target/web/$file" "$PREFIX/share/unruffled/web/${file#./}"
        done
    fi
    # An administrator's settings stay.
    [ -e "$settings" ] || put 644 packaging/unruffled.toml "$SYSCONFDIR/unruffled.toml"
}

uninstall_all() {
    rm -f "$DESTDIR$PREFIX"/bin/unruffled "$share"/man/man1/unruffled.1 "$share"/man/man1/unruffled-*.1 \
        "$share"/bash-completion/completions/unruffled "$share"/fish/vendor_completions.d/unruffled.fish \
        "$DESTDIR$ZSHDIR"/_unruffled "$DESTDIR$UNITDIR"/unruffled.service "$DESTDIR$UNITDIR"/unruffled-all.service \
        "$DESTDIR$UNITDIR"/unruffled-resequence.service
    rm -rf "$share"/doc/unruffled "$share"/unruffled
    if cmp -s "$settings" packaging/unruffled.toml; then
        rm -f "$settings"
    elif [ -e "$settings" ]; then
        echo "kept: $settings: its settings are not those that were installed"
    fi
}

case ${1-} in
install) install_all ;;
uninstall) uninstall_all ;;
*)
    echo "usage: scripts/install.sh install|uninstall" >&2
    exit 2
    ;;
esac
