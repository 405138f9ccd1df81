"""What the package's functions take."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from unruffled._core import Scenario, UnruffledError
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
    return None if set is None else dict(set)


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
        raise UnruffledError("variants: expected at least one sender, found none")
    return listed


def _no_sender(found: object) -> UnruffledError:
    kind = type(found).__name__
    return UnruffledError(f"variants: expected names of senders, or unruffled.own, found {kind}")


#: Threads that one may ask for, as of the command.
MOST_JOBS = 1024


def threads(jobs: int | None) -> int | None:
    """Check how many threads to run on."""
    if jobs is None:
        return None
    try:
        count = operator.index(jobs)
    except TypeError:
        count = 0
    if not 1 <= count <= MOST_JOBS:
        found = count if isinstance(jobs, int) and abs(count) < 10**9 else type(jobs).__name__
        raise UnruffledError(f"jobs: expected a whole number from 1 to {MOST_JOBS}, found {found}")
    return count
