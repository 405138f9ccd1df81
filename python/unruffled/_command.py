"""The command ``unruffled``, which the package installs."""

from __future__ import annotations

import os
import signal
import sys

from unruffled import _core


def main() -> int:
    """Run the command with the arguments of this process, and return its exit status."""
    # Ctrl-C ends the command, or the command handles it, as without Python.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # The interpreter for --dask and Latin hypercubes is this one.
    os.environ.setdefault("UNRUFFLED_PYTHON", sys.executable)
    again = [sys.executable, "-m", "unruffled"]
    return _core.command(sys.argv[1:], again, sys.stdout is not None)
