"""Checks of arguments."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from unruffled._core import Error, Scenario
from unruffled._detector import Own

#: A built-in scenario's name, a TOML file, a dictionary, or a loaded scenario.
ScenarioLike: TypeAlias = str | os.PathLike[str] | Mapping[str, Any] | Scenario

#: A value of a scenario's key, as in its file or in ``--set``.
Value: TypeAlias = str | bool | int | float | Sequence[str | int | float]


def plain(scenario: ScenarioLike | None, called: str = "scenario") -> Any:
    """Check a scenario argument, and turn any mapping into a dictionary."""
    if isinstance(scenario, Mapping):
        return dict(scenario)
    if scenario == "":
        raise Error(f"{called}: expected a name, a file, a dictionary or a scenario, found nothing")
    if scenario is None or isinstance(scenario, str | os.PathLike | Scenario):
        return scenario
    kind = type(scenario).__name__
    raise Error(f"{called}: expected a name, a file, a dictionary or a scenario, found {kind}")


def path(called: str, given: str | os.PathLike[str]) -> str:
    """Check the path of a file."""
    found = os.fspath(given) if isinstance(given, str | os.PathLike) else given
    if not isinstance(found, str):
        raise Error(f"{called}: expected a file's path, found {type(given).__name__}")
    if not found:
        raise Error(f"{called}: expected a file's path, found nothing")
    return found


def text(called: str, given: str | None, expected: str) -> str | None:
    """Check an optional text."""
    if given is not None and not isinstance(given, str):
        raise Error(f"{called}: expected {expected}, found {type(given).__name__}")
    return None if given is None else encodable(called, given)


def encodable(called: str, given: str) -> str:
    """Check that UTF-8 can encode a text. Python's may contain lone surrogates."""
    try:
        given.encode()
    except UnicodeEncodeError:
        raise Error(f"{called}: expected text that UTF-8 can hold") from None
    return given


def truth(called: str, given: bool) -> bool:
    """Check a truth value, which may be one of NumPy's."""
    if type(given).__name__ not in ("bool", "bool_"):
        raise Error(f"{called}: expected True or False, found {type(given).__name__}")
    return bool(given)


def time(given: str | None) -> str | None:
    """Check a duration."""
    return text("duration", given, 'a time, such as "20 s"')


def seconds(called: str, given: float) -> float:
    """Check a positive time in seconds."""
    try:
        found = 0.0 if isinstance(given, str | bytes | bool) else float(given)
    except (TypeError, ValueError, OverflowError):
        found = 0.0
    if not 0 < found < float("inf"):
        raise Error(f"{called}: expected more than 0 s, found {given}")
    return found


def seeds(given: int | None) -> int | None:
    """Check that the number of seeds is whole. The scenario's reader checks its range."""
    if given is None:
        return None
    try:
        if not isinstance(given, bool):
            return operator.index(given)
    except TypeError:
        pass
    raise Error(f"seeds: expected a whole number, found {type(given).__name__}")


def entries(set: Mapping[str, Value] | None) -> dict[str, Any] | None:
    """Turn overrides into a dictionary."""
    if set is None:
        return None
    if not isinstance(set, Mapping):
        kind = type(set).__name__
        raise Error(f"set: expected a dictionary of keys and values, found {kind}")
    return dict(set)


def senders(variants: Sequence[str | Own] | str | None) -> list[str | Own] | None:
    """Return a list of senders. None selects those of the scenario."""
    if variants is None:
        return None
    if isinstance(variants, str):
        return list(variants.split(","))
    if isinstance(variants, bytes | Mapping) or not isinstance(variants, Iterable):
        raise _no_sender(variants)
    listed = list(variants)
    for variant in listed:
        if not isinstance(variant, str | Own):
            raise _no_sender(variant)
    if not listed:
        raise Error("variants: expected at least one sender, found none")
    called = [v if isinstance(v, str) else f"{v.base}+{v.name}" for v in listed]
    for variant, name in zip(listed, called, strict=True):
        # Rust finds other duplicates.
        if isinstance(variant, Own) and called.count(name) > 1:
            raise Error(f"variants: {name} stands twice: expected each once")
    return listed


def _no_sender(found: object) -> Error:
    kind = type(found).__name__
    return Error(f"variants: expected names of senders, or unruffled.own, found {kind}")


def names(called: str, given: Sequence[str] | str | None) -> list[str]:
    """Return a list of names. None selects the default ones; an empty list selects none."""
    if given is None:
        return []
    if isinstance(given, str):
        return encodable(called, given).split(",")
    is_list = isinstance(given, Iterable) and not isinstance(given, bytes | Mapping)
    listed: list[Any] = list(given) if is_list else [given]
    for name in listed:
        if not isinstance(name, str):
            raise Error(f"{called}: expected names, found {type(name).__name__}")
        encodable(called, name)
    return listed or ["none"]


def whole(called: str, given: int, least: int, most: int) -> int:
    """Check a whole number."""
    try:
        number = least - 1 if isinstance(given, bool) else operator.index(given)
    except TypeError:
        number = least - 1
    if not least <= number <= most:
        known = hasattr(given, "__index__") and not isinstance(given, bool) and abs(number) < 10**9
        found = number if known else type(given).__name__
        raise Error(f"{called}: expected a whole number from {least} to {most}, found {found}")
    return number


#: The maximum number of threads, as of the command.
MAX_JOBS = 1024


def threads(jobs: int | None) -> int | None:
    """Check the number of threads."""
    return None if jobs is None else whole("jobs", jobs, 1, MAX_JOBS)
