"""Long calls let other threads of Python run, and end at Ctrl-C."""

from __future__ import annotations

import os
import threading
import time

import pytest
import unruffled

LONG = 'variants=["sack"], seeds=10_000, duration="1000000 s"'

# Calls that would take days, or wait forever to read a pipe without a writer.
INTERRUPTED = {
    "compare": f'unruffled.compare("rr-3", {LONG})',
    "compare with a bar": f'unruffled.compare("rr-3", {LONG}, progress=True)',
    "record": 'unruffled.record("x.pcapng", "rr-3", duration="1000000 s")',
    "sweep": f'unruffled.sweep("rr-3", {{"tcp.window": [20, 50]}}, {LONG}, store=False)',
    "a scenario from a pipe": 'unruffled.scenario("pipe")',
    "a comparison from a pipe": 'unruffled.compare("pipe")',
    "a race from a pipe": 'unruffled.race("pipe")',
    "a record from a pipe": 'unruffled.record("x.pcapng", "pipe")',
    "a sweep from a pipe": 'unruffled.sweep("pipe", {}, store=False)',
    "a grid from a pipe": 'unruffled.sweep(grid="pipe", store=False)',
    "a capture from a pipe": 'unruffled.analyze("pipe")',
    "a detector in Python": (
        'unruffled.compare("rr-3", [unruffled.own("sack", Three)], 1, "1000000 s")'
    ),
}


@pytest.mark.parametrize("call", INTERRUPTED.values(), ids=INTERRUPTED)
def test_ctrl_c_ends_long_calls(call, interrupted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    program = f"""
class Three:
    def rule(self, view):
        return unruffled.Rule(3)
try:
    {call}
except KeyboardInterrupt:
    print("stopped", flush=True)
    # A thread still waits for the pipe.
    import os
    os._exit(0)
"""
    assert interrupted(program) == "stopped\n"


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    file = tmp_path_factory.mktemp("capture") / "late.pcapng"
    unruffled.record(file, "few-late", "rack+cubic", duration="60 s")
    return file


@pytest.fixture(scope="module")
def swept():
    keys = {"tcp.window": {"from": 1, "to": 300, "step": 1}}
    return unruffled.sweep("rr-3", keys, ["sack"], 10, "100 ms", store=False, quiet=True)


LONG_ENOUGH = {
    "compare": lambda **_: unruffled.compare("rr-3", ["sack"], seeds=2, duration="1000 s"),
    "sweep": lambda **_: unruffled.sweep(
        "rr-3", {"tcp.window": [20, 50]}, ["sack"], 2, "500 s", store=False, quiet=True
    ),
    "record": lambda capture, **_: unruffled.record(
        capture.with_name("x.pcapng"), "few-late", duration="200 s"
    ),
    "analyze": lambda capture, **_: unruffled.analyze(capture),
    "a fitted path": lambda capture, **_: unruffled.analyze(capture).scenario(),
    "a sweep as JSON": lambda swept, **_: swept.to_json(),
}


@pytest.mark.parametrize("work", LONG_ENOUGH.values(), ids=LONG_ENOUGH)
def test_other_threads_run_during_long_calls(work, capture, swept):
    turns, over = [0], threading.Event()

    def count() -> None:
        while not over.wait(0.0005):
            turns[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    try:
        while turns[0] == 0:  # The thread may start late on a busy machine.
            time.sleep(0.001)
        before = turns[0]
        work(capture=capture, swept=swept)
        assert turns[0] > before, "the GIL is held"
    finally:
        over.set()
        thread.join()


def test_several_threads_can_compare_at_once():
    alone = unruffled.compare("rr-3", ["sack", "rack"], 2, "5 s")
    found: list[unruffled.Comparison] = []

    def compare() -> None:
        found.append(unruffled.compare("rr-3", ["sack", "rack"], 2, "5 s", jobs=1))

    threads = [threading.Thread(target=compare) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone] * 6
