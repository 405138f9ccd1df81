# make demo        build what it runs, compare the senders over a path that reorders, show the table; with
#                  the rights, race some of them against this machine's kernel
# make build       the whole command: target/release/unruffled
# make test        all tests; fetches tshark where it can
# make lint        formatting, clippy, documentation and prose: warnings are errors
# make msrv        compiles with the oldest Rust that is supported; rustup fetches it
# make deny        licences, sources and advisories of the dependencies, where cargo-deny is installed
# make python      the Python package: a wheel, and its tests, in a virtual environment of its own
# make notebooks   runs python/examples in full, some minutes, and keeps their output
# make fuzz        random input from the network and from files: each target for FUZZ_SECONDS
# make hostile     what hostile peers cost the stack in memory and time, as a table
# make packetdrill Google's packetdrill against the stack: fetches it where it can
# make stacks      drivers of foreign stacks for `unruffled race --stack`: target/stacks; STACKS='quinn quic-go'
# make stacks-figures   measures them and brings docs/guide/stacks.md up to date: an hour
# make reproduce   the papers' evaluations: figures, tables and claims, stopped at any time and resumed
# make reproduce-quick   the same, quickly; fails if a claim that held no longer does
# make site        the documentation as a site: target/site
# make bench       how fast this machine simulates, beside ns-2, ns-3 and its own baselines, and what senders cost
# make release-pgo the release build with profile-guided optimisation: target/pgo/unruffled
# make web         the web page and its engine: target/web, which unruffled serve shows
# make web-test    the page and its engine: both beside the command, to the last digit, and in browsers
# make install     the command, man pages, completions and systemd units, after make build; PREFIX, DESTDIR
# make uninstall   removes them
# make packages    a .deb, a .rpm, a tarball and the bill of materials: target/packages
# make packages-check   installs and removes each in new Debian systems without a network: root
# make python-packages  the manylinux wheel and the sdist, tried in new environments: target/packages
# make crates-check     packs each crate as for crates.io
# make test-aarch64     the engine's tests for aarch64, by QEMU
# make claims      what races must show against this machine's kernel: root, an hour and a quarter
# make validation  goodput of the simulator beside that of real packets: root, forty minutes
#
# The scripts that the rules call also run on their own; scripts/lib.sh has what they share.

CARGO ?= cargo
# The build folder that the user's cargo settings name, as an absolute path. It is exported to all
# recipes. Paths may contain spaces, so each is quoted, and abspath, which splits them, is not used.
TARGET := $(or $(CARGO_TARGET_DIR),target)
export CARGO_TARGET_DIR := $(if $(filter /%,$(firstword $(TARGET))),$(TARGET),$(CURDIR)/$(TARGET))
UNRUFFLED := "$(CARGO_TARGET_DIR)"/release/unruffled
# The arguments that build the kernel's congestion control. A recipe's shell runs the script, so it sees
# tools which an earlier rule has installed.
FEATURES := $$(scripts/features.sh)
export CARGO PYTHON FUZZ_SECONDS FUZZ_SEED PREFIX DESTDIR SYSCONFDIR PROFILE ARCH

# Rules that fetch tools come before rules that build with them, on any number of jobs; cargo and the
# rules use all cores by themselves.
.NOTPARALLEL:

.PHONY: demo demo-race build release-pgo bpf-tools test test-tools lint msrv deny python python-tools \
    python-wheel python-test python-lint notebooks fuzz hostile packetdrill packetdrill-tools stacks stacks-figures bench claims \
    validation reproduce reproduce-quick install uninstall packages packages-check \
    python-packages crates-check test-aarch64 site site-tools web web-test

demo: bpf-tools
	@scripts/demo.sh

demo-race:
	@scripts/demo-race.sh

build: bpf-tools
	$(CARGO) build --release --locked $(FEATURES)

release-pgo:
	@scripts/release-pgo.sh

web:
	@scripts/web.sh build

web-test: build
	@scripts/web.sh test

install:
	@scripts/install.sh install

uninstall:
	@scripts/install.sh uninstall

packages: bpf-tools
	@scripts/packages.sh tools
	@scripts/packages.sh build

packages-check:
	@scripts/packages-check.sh

python-packages:
	@scripts/python.sh packages
	@scripts/python.sh packages-check

crates-check:
	@scripts/crates-check.sh

test-aarch64:
	@scripts/aarch64.sh test

bpf-tools:
	@scripts/bpf-tools.sh

# What other rules have built becomes a part of it: the rustdoc of `make lint`.
site: site-tools build
	@scripts/site.sh build

site-tools:
	@scripts/site.sh tools

test: test-tools bpf-tools
	@scripts/test.sh

test-tools:
	@scripts/test-tools.sh

lint: python-lint
	@scripts/lint.sh

msrv:
	@scripts/msrv.sh

deny:
	@scripts/deny.sh

python: python-tools
	$(CARGO) build --locked -p unruffled
	@scripts/python.sh wheel
	@scripts/python.sh test

python-tools:
	@scripts/python.sh tools

python-wheel:
	@scripts/python.sh wheel

python-test:
	@scripts/python.sh test

python-lint:
	@scripts/python.sh lint

notebooks:
	@scripts/python.sh notebooks

# The site's Papers are of these runs; without them, of quick ones.
stacks:
	@scripts/stacks.sh build $(STACKS)

stacks-figures: build
	@scripts/stacks.sh figures

reproduce: build
	$(UNRUFFLED) reproduce --report "$(CARGO_TARGET_DIR)"/reproduction.html \
	    --write-verdicts crates/papers/experiments/verdicts.txt

# The list is written anew by: unruffled reproduce --quick --write-check FILE
reproduce-quick: build
	$(UNRUFFLED) reproduce --quick --no-store --check crates/papers/experiments/quick.txt \
	    --report "$(CARGO_TARGET_DIR)"/reproduction-quick.html

# HOSTILE=--short is a tenth of it. HOSTILE_PROFILE=dev reuses what `make test` has built, which takes
# the features of the whole workspace.
HOSTILE ?=
HOSTILE_PROFILE ?= quick
hostile:
	$(CARGO) bench --profile $(HOSTILE_PROFILE) --locked --workspace $(FEATURES) --bench hostile -- $(HOSTILE)

fuzz:
	@scripts/fuzz.sh

# PACKETDRILL is a checkout of google/packetdrill or a repository; without, it is cloned from GitHub.
DRILL := peers/packetdrill
packetdrill: packetdrill-tools
	$(CARGO) test --locked --manifest-path $(DRILL)/Cargo.toml \
	    --target-dir "$(CARGO_TARGET_DIR)"/packetdrill/plugin
	$(DRILL)/run

packetdrill-tools:
	@scripts/packetdrill-tools.sh

# docs/measurements/2026-11-28-bench.md has the figures. ns-2 and ns-3 run beside ours where they are installed.
bench: build
	@scripts/bench.sh $(UNRUFFLED)
	$(CARGO) bench --locked -p unruffled-tcp --bench senders
	$(CARGO) bench --locked -p unruffled-resequence --bench packets

KERNEL_FEATURES := $$(scripts/features.sh unruffled-kernel)
claims:
	$(CARGO) test --release --locked $(KERNEL_FEATURES) -p unruffled-race --test it -- --ignored --nocapture claims::

validation:
	$(CARGO) run --release --locked $(KERNEL_FEATURES) -p unruffled-race --example validate
	$(CARGO) run --release --locked $(KERNEL_FEATURES) -p unruffled-race --example linux
