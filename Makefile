# make demo        build, compare the senders over a path that reorders, show the table; with the
#                  rights, race some of them against this machine's kernel
# make test        all tests; fetches tshark where it can
# make python      the Python package: a wheel, and its tests, in a virtual environment of its own
# make notebooks   runs python/examples in full, some minutes, and keeps what they show
# make lint        formatting, clippy and documentation, warnings are errors
# make fuzz        whatever may arrive, at random: each target for FUZZ_SECONDS
# make hostile     what hostile peers cost the stack in memory and time, as a table
# make packetdrill Google's packetdrill against the stack: fetches it where it can
# make reproduce   the papers' evaluations: figures, tables and claims, stopped at any time and resumed
# make reproduce-quick   the same, quickly; fails if a claim that held no longer does
# make bench       how fast this machine simulates, beside ns-2 where it is installed, and what senders cost
# make release-pgo the same as release, compiled by what runs show to be frequent: target/pgo/unruffled
# make claims      what races must show against this machine's kernel: root, an hour and a quarter
# make validation  goodput of the simulator beside that of real packets: root, twenty minutes

CARGO ?= cargo
# Wherever the user's settings of cargo have it: exported, it holds for all that is run here. Paths may
# have spaces, so each is quoted, and abspath, which would divide them, is not used.
TARGET := $(or $(CARGO_TARGET_DIR),target)
ABSOLUTE := $(if $(filter /%,$(firstword $(TARGET))),$(TARGET),$(CURDIR)/$(TARGET))
export CARGO_TARGET_DIR := $(ABSOLUTE)
APT := DEBIAN_FRONTEND=noninteractive apt-get

# What is fetched comes before what is built with it, on any number of jobs; cargo and the rules below
# use all cores by themselves.
.NOTPARALLEL:

# The congestion control for the kernel is built where there are a clang that compiles for BPF and what
# libbpf takes, whose own Makefile takes no spaces. Asked anew each time, since the tools may have been
# fetched meanwhile.
BPF_READY = ( for tool in clang make pkg-config; do command -v $$tool >/dev/null || exit 1; done; \
    [ "$$(uname)" = Linux ] && pkg-config --exists libelf zlib && $(BPF_PATH) && \
    clang -target bpf -mcpu=v3 -x c -c -o /dev/null /dev/null 2>/dev/null )
BPF_PATH = [ -z "$(word 2,$(ABSOLUTE))" ]
FEATURES = $(shell if $(BPF_READY); then echo --features unruffled/bpf; fi)

.PHONY: demo demo-race build release-pgo bpf-tools test test-tools python python-tools python-test notebooks lint python-lint fuzz hostile packetdrill packetdrill-tools bench claims validation reproduce reproduce-quick

demo: bpf-tools build
	@"$(TARGET)"/release/unruffled compare --report unruffled-few-late.html
	@echo "The report: file://$(CURDIR)/unruffled-few-late.html"
	@$(MAKE) --no-print-directory demo-race

# Real packets need Linux, root (for namespaces and TUN) and ip.
RACE := race half-late --variants unruffled,rack,tcp-pr-sack --duration 15s
# The last row is the kernel's own TCP with the congestion control of `unruffled attach`. A kernel that
# cannot have it refuses the race, and has one without it.
KERNELS = cubic$(if $(FEATURES),$(comma)unruffled)
comma := ,
demo-race:
	@if [ "$$(uname)" != Linux ]; then \
	    echo; echo "A race of real packets against the kernel's TCP needs Linux."; \
	elif ! command -v ip >/dev/null || ! unshare --net --pid --fork true 2>/dev/null || \
	    ! [ -w /dev/net/tun ]; then \
	    echo; echo "For a race of real packets against this kernel's TCP, as root and with iproute2:"; \
	    echo "    sudo $(TARGET)/release/unruffled $(RACE) --kernel $(KERNELS)"; \
	else \
	    echo; echo "And with real packets, against this machine's kernel (a minute):"; \
	    race() { "$(TARGET)"/release/unruffled $(RACE) --kernel $$1 --report unruffled-race-half-late.html; }; \
	    { race $(KERNELS) || { [ $$? = 2 ] && race cubic; }; } && \
	    echo "The report: file://$(CURDIR)/unruffled-race-half-late.html"; \
	fi

build:
	$(CARGO) build --release --locked $(FEATURES)

# Profile-guided optimisation: the program is built twice, and the second time the compiler knows
# which way it goes most. It learns from all senders on a path that reorders, not from what bench
# measures alone. What it brings stands in docs/speed.md.
PGO := $(ABSOLUTE)/pgo
PGO_SPEED := crates/lab/speed
release-pgo:
	@set -e; \
	profdata=$$(find "$$(rustc --print sysroot)" -name llvm-profdata | head -n 1); \
	if [ -z "$$profdata" ]; then \
	    echo "missing: llvm-profdata: rustup component add llvm-tools"; exit 1; \
	fi; \
	host=$$(rustc -vV | sed -n 's/^host: //p'); rm -rf "$(PGO)"/raw; \
	CARGO_ENCODED_RUSTFLAGS="-Cprofile-generate=$(PGO)/raw" $(CARGO) build --release --locked --target "$$host" \
	    --target-dir "$(PGO)"/learn -p unruffled $(FEATURES); \
	learn="$(PGO)"/learn/$$host/release/unruffled; \
	senders=$$("$$learn" variants | awk '/^[a-z]/ { printf "%s%s", n++ ? "," : "", $$1 }'); \
	for share in 0% 10% 30%; do \
	    "$$learn" compare rr-3 --variants "$$senders" --set delayed.fraction=$$share \
	        --seeds 1 --duration "20 s" --json >/dev/null; \
	done; \
	for scenario in wb-t3 wb-t5 ad-3; do \
	    "$$learn" bench sim $(PGO_SPEED)/$$scenario.toml --duration "60 s"; \
	done; \
	"$$profdata" merge -o "$(PGO)"/merged.profdata "$(PGO)"/raw; \
	CARGO_ENCODED_RUSTFLAGS="-Cprofile-use=$(PGO)/merged.profdata" $(CARGO) build --release --locked --target "$$host" \
	    --target-dir "$(PGO)"/use -p unruffled $(FEATURES); \
	cp "$(PGO)"/use/$$host/release/unruffled "$(PGO)"/unruffled; \
	echo "The command: $(PGO)/unruffled"

# clang compiles BPF programs; the rest is what libbpf is built with.
bpf-tools:
	@if $(BPF_READY); then exit 0; fi; \
	if $(BPF_PATH) && [ "$$(uname)" = Linux ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "missing: what the kernel's congestion control is built with: installing"; \
	    if $(APT) update -qq && $(APT) install -qq -y --no-install-recommends clang llvm make pkg-config \
	        libelf-dev zlib1g-dev; then exit 0; fi; \
	fi; \
	missing="missing: clang for BPF, pkg-config, libelf or zlib"; \
	$(BPF_PATH) || missing="libbpf cannot be built where the path has spaces"; \
	echo "$$missing: built without unruffled attach, detach, run, status"

# What Python's tests need is fetched while Rust's are built, and the wheel is built while they run: they
# mostly wait, and the wheel's build takes what they leave.
test: test-tools bpf-tools
	@$(MAKE) --no-print-directory python-tools & tools=$$!; \
	$(CARGO) test --workspace --locked --no-run $(FEATURES) || exit 1; wait $$tools; \
	nice -n 19 $(MAKE) --no-print-directory python-wheel & wheel=$$!; \
	status=0; $(CARGO) test --workspace --locked --no-fail-fast $(FEATURES) || status=1; \
	wait $$wheel || status=1; $(MAKE) --no-print-directory python-test || status=1; exit $$status

# tshark reads the captures that tests make; ip (iproute2) sets up the namespaces of tests with real
# packets. Without them, or without root, those tests skip themselves; what they say is not shown, so this
# says it.
test-tools:
	@if ! unshare --net --pid --fork true 2>/dev/null || ! [ -w /dev/net/tun ]; then \
	    echo "missing: root on Linux, with /dev/net/tun: tests with real packets will be skipped"; \
	fi; \
	command -v qemu-system-x86_64 >/dev/null || echo "missing: QEMU: other kernels will not be tried"; \
	missing=""; \
	command -v tshark >/dev/null || missing="$$missing tshark"; \
	command -v ip >/dev/null || missing="$$missing iproute2"; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "missing:$$missing: installing"; \
	    if $(APT) update -qq && $(APT) install -qq -y --no-install-recommends $$missing; then exit 0; fi; \
	fi; \
	echo "missing:$$missing: tests that need them will be skipped"

# The Python package: built by maturin from the workspace's own artifacts, tested and linted in a
# virtual environment of its own. Without Python, or what is fetched for it, both are skipped.
PYTHON ?= python3
VENV := $(ABSOLUTE)/python/venv
# What the environment was made of and where: of another interpreter, or moved, it is made anew.
VENV_IS = $(PYTHON) -c 'import sys; print(sys.version, sys.prefix)'; echo "$(VENV)"; cat pyproject.toml
PYTHON_WANTS := import tomllib; \
    print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["test"])

python: python-tools
	$(CARGO) build --locked -p unruffled
	@$(MAKE) --no-print-directory python-wheel python-test

python-tools:
	@if ! $(PYTHON) -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "missing: Python 3.11 with venv: the package for Python is not tested"; exit 0; \
	fi; \
	wanted=$$($(VENV_IS)); \
	if [ "$$(cat "$(VENV)"/ready 2>/dev/null)" = "$$wanted" ]; then exit 0; fi; \
	rm -f "$(VENV)"/ready; \
	if $(PYTHON) -m venv --clear "$(VENV)" && \
	    "$(VENV)"/bin/python -m pip install -q --no-compile --disable-pip-version-check \
	    maturin tqdm $$($(PYTHON) -c '$(PYTHON_WANTS)'); then \
	    printf '%s\n' "$$wanted" > "$(VENV)"/ready; \
	else \
	    echo "missing: what the tests of the package for Python need: it is not tested"; \
	fi

# The profile of cargo test, so that what that has built is used.
python-wheel:
	@if ! [ -e "$(VENV)"/ready ]; then exit 0; fi; \
	rm -rf "$(TARGET)"/python/wheels; \
	"$(VENV)"/bin/python -m maturin build -q --profile dev --locked \
	    --interpreter "$(VENV)"/bin/python --out "$(TARGET)"/python/wheels

python-test:
	@if ! [ -e "$(VENV)"/ready ]; then echo "missing: $(VENV): the package for Python is not tested"; exit 0; fi; \
	set -e; "$(VENV)"/bin/python -m pip install -q --disable-pip-version-check --no-deps --no-index --force-reinstall \
	    "$(TARGET)"/python/wheels/*.whl; \
	UNRUFFLED_COMMAND="$(ABSOLUTE)"/debug/unruffled "$(VENV)"/bin/python -m pytest

# What the notebooks show, by the package that make python has built: in full, as a release.
notebooks:
	"$(VENV)"/bin/python -m maturin build -q --release --locked \
	    --interpreter "$(VENV)"/bin/python --out "$(TARGET)"/python/release
	"$(VENV)"/bin/python -m pip install -q --disable-pip-version-check --no-deps --no-index --force-reinstall \
	    "$(TARGET)"/python/release/*.whl
	"$(VENV)"/bin/python python/examples/execute.py

python-lint:
	@if ! [ -e "$(VENV)"/ready ]; then echo "missing: $(VENV): the package for Python is not linted"; exit 0; fi; \
	set -ex; \
	for tool in "ruff check python" "ruff format --check python" mypy; do "$(VENV)"/bin/python -m $$tool; done

lint: python-lint
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path $(FUZZ)/Cargo.toml --check
	$(CARGO) fmt --manifest-path $(DRILL)/Cargo.toml --check
	$(CARGO) clippy --workspace --all-targets --locked $(FEATURES) -- -D warnings
	$(CARGO) clippy --manifest-path $(DRILL)/Cargo.toml --target-dir "$(TARGET)"/packetdrill/plugin \
	    --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

reproduce: build
	"$(TARGET)"/release/unruffled reproduce --markdown docs/reproduction.md

# The list is written anew by: unruffled reproduce --quick --write-check FILE
reproduce-quick: build
	"$(TARGET)"/release/unruffled reproduce --quick --no-store --check crates/papers/experiments/quick.txt \
	    --report "$(TARGET)"/reproduction-quick.html

# HOSTILE=--short is a tenth of it; the profile dev is what tests are built with, of the whole workspace.
HOSTILE ?=
HOSTILE_PROFILE ?= quick
hostile:
	$(CARGO) bench --profile $(HOSTILE_PROFILE) --locked --workspace $(FEATURES) --bench hostile -- $(HOSTILE)

claims:
	$(CARGO) test --release --locked $(if $(FEATURES),--features unruffled-kernel/bpf) -p unruffled-race --test claims -- --ignored --nocapture

validation:
	$(CARGO) run --release --locked $(if $(FEATURES),--features unruffled-kernel/bpf) -p unruffled-race --example validate

# libFuzzer is C++, and wants to know which edges a run takes. The compiler counts them for the host
# named outright, so that build scripts are built without. New inputs stay under the target directory.
FUZZ := crates/wire/fuzz
FUZZ_SECONDS ?= 15
# The same seed before every merge: what is new should be found by those who look for it.
FUZZ_SEED ?= 1
FUZZ_TARGETS := capture connection decode stack
FUZZ_OUT := $(TARGET)/fuzz
FUZZ_LLVM := -sanitizer-coverage-level=4 -sanitizer-coverage-inline-8bit-counters \
    -sanitizer-coverage-pc-table -sanitizer-coverage-trace-compares
FUZZ_FLAGS := --cfg fuzzing -Cpasses=sancov-module $(addprefix -Cllvm-args=,$(FUZZ_LLVM)) \
    -Ccodegen-units=1 -Cdebug-assertions

fuzz:
	@if ! command -v "$${CXX:-c++}" >/dev/null; then \
	    echo "missing: a C++ compiler: nothing is fuzzed"; exit 0; \
	fi; \
	set -e; \
	host=$$(rustc -vV | sed -n 's/^host: //p'); \
	$(CARGO) clippy --all-targets --locked --manifest-path $(FUZZ)/Cargo.toml --target-dir "$(FUZZ_OUT)" \
	    -- -D warnings; \
	$(CARGO) test --locked --manifest-path $(FUZZ)/Cargo.toml --target-dir "$(FUZZ_OUT)"; \
	RUSTFLAGS="$(FUZZ_FLAGS)" $(CARGO) build --release --locked --target "$$host" \
	    --manifest-path $(FUZZ)/Cargo.toml --target-dir "$(FUZZ_OUT)"; \
	for target in $(FUZZ_TARGETS); do \
	    mkdir -p "$(FUZZ_OUT)"/corpus/$$target; \
	    "$(FUZZ_OUT)"/$$host/release/$$target -max_total_time=$(FUZZ_SECONDS) -seed=$(FUZZ_SEED) -max_len=1024 -timeout=10 \
	        -verbosity=0 -print_final_stats=1 -artifact_prefix="$(FUZZ_OUT)"/$$target- \
	        "$(FUZZ_OUT)"/corpus/$$target $(FUZZ)/corpus/$$target; \
	done

# PACKETDRILL is a checkout of google/packetdrill or a repository; without, it is cloned from GitHub.
DRILL := peers/packetdrill

packetdrill: packetdrill-tools
	$(CARGO) test --locked --manifest-path $(DRILL)/Cargo.toml --target-dir "$(TARGET)"/packetdrill/plugin
	$(DRILL)/run

# packetdrill's parser is made by bison and flex. Without them the run is skipped and says so.
packetdrill-tools:
	@missing=""; \
	for tool in bison flex; do command -v $$tool >/dev/null || missing="$$missing $$tool"; done; \
	command -v cc >/dev/null || missing="$$missing gcc libc6-dev"; \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "missing:$$missing: installing"; \
	    $(APT) update -qq && $(APT) install -qq -y --no-install-recommends $$missing || true; \
	fi

# docs/speed.md says what came of it. ns-2 runs beside ours where it is installed.
bench: build
	@peers/ns2/speed.sh "$(TARGET)"/release/unruffled
	@"$(TARGET)"/release/unruffled bench sim crates/lab/speed/many.toml
	$(CARGO) bench --locked -p unruffled-tcp --bench senders
