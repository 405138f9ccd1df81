#!/bin/sh
# Foreign stacks for `unruffled race --stack`:
#     stacks.sh build [NAME…]    builds their drivers, all by default, into target/stacks
#     stacks.sh figures          measures all of peers/stacks/table.txt into peers/stacks/figures.csv, and
#                                brings the table of the documentation up to date
. "$(dirname "$0")/lib.sh"
peers=$(pwd)/peers/stacks

build() {
    status=0
    for makefile in "$peers"/*/Makefile; do
        folder=$(basename "$(dirname "$makefile")")
        case " ${*:-$folder} " in
        *" $folder "*) make -s -C "$peers/$folder" || { status=1; echo "stacks/$folder: not built"; } ;;
        esac
    done
    return $status
}

case ${1-} in
build)
    shift
    build "$@"
    ;;
figures)
    cargo_run() { "$CARGO" run --quiet --release --locked "$@"; }
    cargo_run -p xtask -- stacks measure "$CARGO_TARGET_DIR/release/unruffled" "$CARGO_TARGET_DIR/stacks"
    cargo_run -p xtask -- stacks page
    ;;
*)
    echo "usage: stacks.sh build [NAME…] | figures" >&2
    exit 2
    ;;
esac
