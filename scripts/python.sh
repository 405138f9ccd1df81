#!/bin/sh
# The Python package: built by maturin from the workspace's own artifacts, tested and linted in a virtual
# environment of its own.
#
#   scripts/python.sh tools        creates the environment
#   scripts/python.sh wheel        builds the wheel with the profile of `cargo test`, to reuse its output
#   scripts/python.sh test         installs that wheel and runs python/tests
#   scripts/python.sh lint         runs ruff and mypy
#   scripts/python.sh notebooks    builds a release and runs python/examples in full
#   scripts/python.sh packages     builds the manylinux wheel and the sdist into target/packages
#   scripts/python.sh packages-check    installs both in new environments and runs the command
#
# Without Python 3.11, or without what is fetched for it, each prints that it is skipped.
. "$(dirname "$0")/lib.sh"
: "${PYTHON:=python3}"
venv=$target/python/venv

# What the environment depends on. It is created anew for another interpreter or in another place.
describe_venv() {
    "$PYTHON" -c 'import sys; print(sys.version, sys.prefix)'
    echo "$venv"
    cat pyproject.toml
}

test_requirements() {
    "$PYTHON" -c 'import tomllib
print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["test"])'
}

tools() {
    if ! "$PYTHON" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        echo "missing: Python 3.11 with venv: the package for Python is not tested"
        return
    fi
    description=$(describe_venv)
    if [ "$(cat "$venv"/ready 2>/dev/null)" = "$description" ]; then
        return
    fi
    rm -f "$venv"/ready
    # shellcheck disable=SC2046 # one word for each requirement
    if "$PYTHON" -m venv --clear "$venv" &&
        "$venv"/bin/python -m pip install -q --no-compile --disable-pip-version-check \
            maturin tqdm $(test_requirements); then
        printf '%s\n' "$description" >"$venv"/ready
    else
        echo "missing: what the tests of the package for Python need: it is not tested"
    fi
}

# require CONSEQUENCE: ends the script where there is no environment.
require() {
    if ! [ -e "$venv"/ready ]; then
        echo "missing: $venv: $1"
        exit 0
    fi
}

# build_wheel PROFILE FOLDER
build_wheel() {
    "$venv"/bin/python -m maturin build -q --profile "$1" --locked \
        --interpreter "$venv"/bin/python --out "$2"
}

install_wheel() {
    "$venv"/bin/python -m pip install -q --disable-pip-version-check --no-deps --no-index \
        --force-reinstall "$1"/*.whl
}

# Tools of the packages. Zig links with the symbols of an old glibc, so that the wheel is for most systems.
PACKAGE_TOOLS="maturin==1.16.0 ziglang==0.15.2 twine==6.2.0"
MANYLINUX=manylinux_2_17

packages() {
    : "${PROFILE:=release}"
    tools=$target/python/packages
    [ -e "$tools"/bin/python ] || "$PYTHON" -m venv "$tools"
    # shellcheck disable=SC2086 # one word for each requirement
    "$tools"/bin/python -m pip install -q --disable-pip-version-check $PACKAGE_TOOLS
    out=$target/packages
    mkdir -p "$out"
    rm -f "$out"/unruffled-*.whl "$out"/unruffled-*[0-9].tar.gz
    # maturin finds zig by the interpreter of its environment.
    PATH=$tools/bin:$PATH VIRTUAL_ENV=$tools "$tools"/bin/maturin build -q --profile "$PROFILE" --locked --zig \
        --compatibility $MANYLINUX --auditwheel check --target-dir "$target"/python/zig --out "$out"
    "$tools"/bin/maturin sdist --out "$out"
    "$tools"/bin/twine check --strict "$out"/unruffled-*.whl "$out"/unruffled-*[0-9].tar.gz
}

# check_package FILE: installs it in a new environment, and runs the command and the package.
check_package() {
    folder=$(mktemp -d)
    "$PYTHON" -m venv "$folder"/venv
    "$folder"/venv/bin/python -m pip install -q --disable-pip-version-check "$1"
    (
        cd "$folder"
        export XDG_CACHE_HOME="$folder"/cache
        venv/bin/unruffled --version
        venv/bin/unruffled compare rr-3 --seeds 1 --duration "2 s" --variants sack --no-report --json >by-command
        venv/bin/python -m unruffled compare rr-3 --seeds 1 --duration "2 s" --variants sack --no-report \
            --json >by-module
        cmp by-command by-module
        venv/bin/python -c 'import unruffled
print(unruffled.compare("rr-3", ["sack"], seeds=1, duration="2 s"))'
        status=0
        venv/bin/unruffled compare --bogus 2>refused || status=$?
        [ $status = 2 ] && [ "$(wc -l <refused)" = 1 ]
    )
    rm -rf "$folder"
}

packages_check() {
    check_package "$target"/packages/unruffled-*.whl
    # pip builds it with the release profile, which takes minutes.
    CARGO_TARGET_DIR=$target/python/sdist CARGO_PROFILE_RELEASE_LTO=off \
        CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 check_package "$target"/packages/unruffled-*[0-9].tar.gz
}

set -e
case ${1-} in
tools)
    tools
    ;;
wheel)
    [ -e "$venv"/ready ] || exit 0
    rm -rf "$target"/python/wheels
    build_wheel dev "$target"/python/wheels
    ;;
test)
    require "the package for Python is not tested"
    install_wheel "$target"/python/wheels
    UNRUFFLED_COMMAND=$target/debug/unruffled "$venv"/bin/python -m pytest
    ;;
lint)
    require "the package for Python is not linted"
    set -x
    "$venv"/bin/python -m ruff check python
    "$venv"/bin/python -m ruff format --check python
    "$venv"/bin/python -m mypy
    ;;
notebooks)
    require "the notebooks are not run"
    build_wheel release "$target"/python/release
    install_wheel "$target"/python/release
    "$venv"/bin/python python/examples/execute.py
    ;;
packages) packages ;;
packages-check) packages_check ;;
*)
    echo "usage: scripts/python.sh tools|wheel|test|lint|notebooks|packages|packages-check" >&2
    exit 2
    ;;
esac
