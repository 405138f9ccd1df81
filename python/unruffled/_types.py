"""What the package's functions take."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from unruffled._core import Error, Scenario
from unruffled._detector import Own

#: A built-in scenario's name, a TOML file, a dictionary, or a loaded scenario.
ScenarioLike: TypeAlias = str | os.PathLike[str] | Mapping[str, Any] | Scenario

#: A value of a scenario's key, as its file or ``--set`` has it.
Value: TypeAlias = str | bool | int | float | Sequence[str | int | float]


def plain(scenario: ScenarioLike | None) -> Any:
    """Turn any mapping into a dictionary."""
    return dict(scenario) if isinstance(scenario, Mapping) else scenario


def entries(set: Mapping[str, Value] | None) -> dict[str, Any] | None:
    """Turn what is set into a dictionary."""
    if set is None:
        return None
    if not isinstance(set, Mapping):
        kind = type(set).__name__
        raise Error(f"set: expected a dictionary of keys and values, found {kind}")
    return dict(set)


def senders(variants: Sequence[str | Own] | str | None) -> list[str | Own] | None:
    """List the senders that were asked for; none leaves them to the scenario."""
    if variants is None:
        return None
    if isinstance(variants, str):
        return list(variants.split(","))
    if not isinstance(variants, Iterable):
        raise _no_sender(variants)
    listed = list(variants)
    for variant in listed:
        if not isinstance(variant, str | Own):
            raise _no_sender(variant)
    if not listed:
        raise Error("variants: expected at least one sender, found none")
    called = [v if isinstance(v, str) else f"{v.base}+{v.name}" for v in listed]
    for variant, name in zip(listed, called, strict=True):
        # Of those of Rust the command's line tells.
        if isinstance(variant, Own) and called.count(name) > 1:
            raise Error(f"--variants: {name} stands twice: expected each once")
    return listed


def _no_sender(found: object) -> Error:
    kind = type(found).__name__
    return Error(f"variants: expected names of senders, or unruffled.own, found {kind}")


def names(called: str, given: Sequence[str] | str | None) -> list[str]:
    """List names as the command takes them: nothing leaves them to it, an empty list is none."""
    if given is None:
        return []
    if isinstance(given, str):
        return given.split(",")
    listed = list(given) if isinstance(given, Iterable) else [given]
    for name in listed:
        if not isinstance(name, str):
            raise Error(f"{called}: expected names, found {type(name).__name__}")
    return listed or ["none"]


def whole(called: str, given: int, least: int, most: int) -> int:
    """Check a whole number."""
    try:
        number = operator.index(given)
    except TypeError:
        number = least - 1
    if not least <= number <= most:
        known = isinstance(given, int) and abs(number) < 10**9
        found = number if known else type(given).__name__
        raise Error(f"{called}: expected a whole number from {least} to {most}, found {found}")
    return number


#: Threads that one may ask for, as of the command.
MOST_JOBS = 1024


def threads(jobs: int | None) -> int | None:
    """Check how many threads to run on."""
    return None if jobs is None else whole("jobs", jobs, 1, MOST_JOBS)
