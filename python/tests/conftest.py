from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# A shell that runs the tests in the background may make them ignore Ctrl-C.
BEGIN = """
import signal, unruffled
signal.signal(signal.SIGINT, signal.default_int_handler)
print("started", flush=True)
"""

FLAGS = "bytes|dask|duration|jobs|kernel|seeds|set|stacks?|store|together|variants"


def in_python(stderr: str) -> str:
    """Return the command's message as Python words it: arguments in place of flags."""
    line = stderr.removeprefix("unruffled: ").removesuffix("\n")
    line = re.sub(rf"--({FLAGS})\b", r"\1", line)
    return re.sub(r"^(\w+): \1: ", r"\1: ", line)


Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def command() -> Command:
    """Return a function that runs the command: ``UNRUFFLED_COMMAND``, or the debug build."""
    program = os.environ.get("UNRUFFLED_COMMAND") or str(ROOT / "target/debug/unruffled")
    if not Path(program).exists():
        pytest.skip(f"no command {program}: cargo build -p unruffled")

    def run(*arguments: str, **more: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program, *arguments], capture_output=True, text=True, check=False, **more
        )

    return run


@pytest.fixture(scope="session")
def interrupted() -> Callable[[str], str]:
    """Return a function that runs a program, sends it Ctrl-C, and returns its output since."""

    def run(program: str) -> str:
        started = subprocess.Popen(
            [sys.executable, "-c", BEGIN + program], stdout=subprocess.PIPE, text=True
        )
        try:
            assert started.stdout is not None
            assert started.stdout.readline() == "started\n"
            # The test holds whether or not the work has begun; most often it has by then.
            time.sleep(0.2)
            started.send_signal(signal.SIGINT)
            printed, _ = started.communicate(timeout=60)
            assert started.returncode == 0
            return printed
        finally:
            started.kill()
            started.wait()

    return run
