"""The functions ``analyze`` and ``record``."""

from __future__ import annotations

import os
from collections.abc import Mapping

from unruffled import _core, _progress
from unruffled._types import ScenarioLike, Value, entries, plain, text, whole
from unruffled._types import path as file
from unruffled._types import time as lasting

#: The maximum seed.
MAX_SEED = 2**64 - 1


def analyze(capture: str | os.PathLike[str], *, progress: bool | None = None) -> _core.Analysis:
    """Find out from a capture what slowed its connections, and whether packets were reordered.

    Parameters
    ----------
    capture
        A pcap or pcapng file, also compressed with gzip.
    progress
        Whether to draw a progress bar; unless given, in terminals and notebooks.

    Returns
    -------
    Analysis
        The transfers, largest first, with what slowed each and what reordering
        cost it. It is itself an Arrow table of its transfers.

    Raises
    ------
    Error
        If the file is not a capture: the line that the command prints.
    """
    path = file("capture", capture)
    size = os.path.getsize(path) if os.path.isfile(path) else None
    with _progress.bar(size, "B", progress) as show:
        return _core.analyze(path, progress=show)


def record(
    path: str | os.PathLike[str],
    scenario: ScenarioLike = "few-late",
    variant: str = "sack",
    seed: int = 1,
    duration: str | None = None,
    set: Mapping[str, Value] | None = None,
) -> None:
    """Write the packets at a sender's end as a capture, for Wireshark and :func:`analyze`.

    Parameters
    ----------
    path
        The pcapng file.
    scenario
        The name of a built-in scenario, a TOML file, a dictionary, or a scenario.
    variant
        The sender.
    seed
        The seed of the run.
    duration
        Simulated time, in place of the scenario's, such as ``"20 s"``.
    set
        Values that replace those of any key of the scenario.

    Raises
    ------
    Error
        If a scenario, key or sender is invalid, or the file cannot be written.
    """
    path = file("path", path)
    if scenario is None:
        raise _core.Error("scenario: expected a name, a file, a dictionary or a scenario")
    if text("variant", variant, "a sender's name") is None:
        raise _core.Error("variant: expected a sender's name, found None")
    seed = whole("seed", seed, 0, MAX_SEED)
    _core.record(path, plain(scenario), variant, seed, lasting(duration), entries(set))
