"""The function ``race``."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping, Sequence

from unruffled import _core, _progress
from unruffled._types import ScenarioLike, Value, entries, names, path, plain, text, truth, whole
from unruffled._types import time as lasting

#: The maximum number of seeds, as of the command.
MAX_SEEDS = 1000


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
    stack: Sequence[str] | str | None = None,
    stacks: str | os.PathLike[str] = "target/stacks",
    progress: bool | None = None,
) -> _core.Comparison:
    """Compare this machine's kernel, our senders and foreign stacks over the same transfer.

    Requires Linux. All but foreign stacks in virtual time send real packets, which
    requires the rights to create network namespaces, usually root.

    Parameters
    ----------
    scenario
        The path: a built-in scenario's name, a TOML file, a dictionary, or a
        scenario.
    kernel
        Congestion controls of the kernel. The default is CUBIC, Reno and BBR, as
        far as the kernel has them; an empty list selects none. ``"unruffled"`` is
        available after ``sudo unruffled attach``.
    variants
        Our senders, in place of the scenario's; none if empty.
    duration
        The duration of each transfer. The default is 30 s; the scenario's is not
        used.
    bytes
        The size of each transfer in place of a duration, such as ``"33 MB"``.
    seeds
        The number of seeds. The scenario's is not used.
    set
        Values that replace those of any key of the scenario.
    together
        Whether all senders run at once and share the path.
    reverse
        Whether the kernel sends to our stack, in place of senders to the kernel.
    stack
        Foreign stacks to run, each with its own receiver, such as ``"quinn"``,
        ``"quinn+bbr"`` or ``"quinn:packet_threshold=10"``. With them, no kernel and
        none of our senders run unless given.
    stacks
        The folder of their drivers, which ``make stacks`` builds.
    progress
        Whether to draw a progress bar; unless given, in terminals and notebooks.

    Returns
    -------
    Comparison
        As for :func:`compare`. A failed transfer causes a warning and has no
        row.

    Raises
    ------
    Error
        Without the rights, the congestion control or the driver, or if real packets
        cannot cross the scenario's network.
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
    seeds = whole("seeds", seeds, 1, MAX_SEEDS)
    with _progress.bar(None, "transfer", progress) as show:
        found, failures = _core.race(
            plain(scenario),
            names("kernel", kernel),
            names("variants", variants),
            names("stack", stack or None),
            path("stacks", stacks),
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
