"""The function ``race``."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence

from unruffled import _core, _progress
from unruffled._types import ScenarioLike, Value, entries, names, plain, text, truth, whole
from unruffled._types import time as lasting

#: Seeds that one may ask for, as of the command.
MOST_SEEDS = 1000


def race(
    scenario: ScenarioLike = "half-late",
    kernel: Sequence[str] | str | None = None,
    variants: Sequence[str] | str | None = None,
    duration: str | None = None,
    bytes: str | None = None,
    seeds: int = 1,
    set: Mapping[str, Value] | None = None,
    *,
    together: bool = False,
    reverse: bool = False,
    progress: bool | None = None,
) -> _core.Comparison:
    """Let this machine's kernel and our senders make the same transfer, with real packets.

    Needs Linux, and the rights to make network namespaces: root, as a rule.

    Parameters
    ----------
    scenario
        The path: a built-in scenario's name, a TOML file, a dictionary, or a
        scenario.
    kernel
        Congestion controls of the kernel; what it has of CUBIC, Reno and BBR
        unless given, none if empty. ``"unruffled"`` takes part where ``sudo
        unruffled attach`` has loaded it.
    variants
        Our senders, in place of the scenario's; none if empty.
    duration
        How long each transfer lasts; 30 s unless given, whatever the scenario
        says.
    bytes
        Send so much in place of what goes in ``duration``, such as ``"33 MB"``.
    seeds
        How many seeds to run, whatever the scenario says.
    set
        Values that replace those of any key of the scenario.
    together
        Let all send at once and share the path.
    reverse
        Let the kernel send to our stack, in place of any of ``variants`` to it.
    progress
        Whether to draw a progress bar; unless given, in terminals and notebooks.

    Returns
    -------
    Comparison
        As that of :func:`compare`. A transfer that fails has no row, and a
        warning.

    Raises
    ------
    Error
        No rights, no such congestion control, or a scenario that real packets
        cannot cross.
    """
    if not hasattr(_core, "race"):
        raise _core.Error(f"race: expected Linux, found {sys.platform}")
    if scenario is None:
        raise _core.Error("scenario: expected a name, a file, a dictionary or a scenario")
    together, reverse = truth("together", together), truth("reverse", reverse)
    duration, bytes = lasting(duration), text("bytes", bytes, 'an amount, such as "33 MB"')
    for one, other, both in [
        ("duration", "bytes", duration is not None and bytes is not None),
        ("reverse", "variants", reverse and bool(variants)),
    ]:
        if both:
            raise _core.Error(f"race: {one} and {other}: expected only one of them")
    seeds = whole("seeds", seeds, 1, MOST_SEEDS)
    with _progress.bar(None, "transfer", progress) as show:
        found, failures = _core.race(
            plain(scenario),
            names("kernel", kernel),
            names("variants", variants),
            duration,
            bytes,
            seeds,
            entries(set),
            together,
            reverse,
            show,
        )
    for failure in failures:
        warnings.warn(failure, RuntimeWarning, stacklevel=2)
    return found
