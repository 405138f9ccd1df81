"""The functions ``compare``, ``scenario`` and ``variants``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from unruffled import _core, _progress
from unruffled._detector import Own
from unruffled._types import ScenarioLike, Value, entries, plain, senders, threads
from unruffled._types import seeds as counted
from unruffled._types import text as checked
from unruffled._types import time as lasting


def scenario(
    path_or_dict: ScenarioLike,
    set: Mapping[str, Value] | None = None,
) -> _core.Scenario:
    """Load a scenario and check it.

    Parameters
    ----------
    path_or_dict
        The name of a built-in scenario (``"rr-3"``), a TOML file, a dictionary
        with the same keys, or a scenario.
    set
        Values that replace those of any key, such as ``{"delayed.fraction": "30 %"}``.
        The beginning of a key may be left out if that is unambiguous.

    Returns
    -------
    Scenario
        The scenario, with every override applied.

    Raises
    ------
    Error
        If the scenario is invalid: one line with the place, and what was
        expected.

    Examples
    --------
    >>> import unruffled
    >>> unruffled.scenario("rr-3", set={"delayed.fraction": "30 %"}).duration_s
    1000.0
    """
    if path_or_dict is None:
        raise _core.Error("path_or_dict: expected a name, a file, a dictionary or a scenario")
    return _core.scenario(plain(path_or_dict, "path_or_dict"), entries(set))


def compare(
    scenario: ScenarioLike = "few-late",
    variants: Sequence[str | Own] | str | None = None,
    seeds: int | None = None,
    duration: str | None = None,
    set: Mapping[str, Value] | None = None,
    *,
    jobs: int | None = None,
    progress: bool | None = None,
) -> _core.Comparison:
    """Run several senders over a scenario, each with the same seeds.

    The rows have the same numbers as those of ``unruffled compare --csv``.

    Parameters
    ----------
    scenario
        The name of a built-in scenario, a TOML file, a dictionary with the same
        keys, or a scenario.
    variants
        Names of senders, in place of the scenario's; see :func:`variants`.
        :func:`own` returns senders with a detector of your own.
    seeds
        The number of seeds, in place of the scenario's; they are 1, 2, 3 …
    duration
        Simulated time, in place of the scenario's, such as ``"100 s"``.
    set
        Values that replace those of any key of the scenario.
    jobs
        Threads to run on, at most 1024; all cores unless given. The result is the same on
        any number.
    progress
        Whether to draw a progress bar; unless given, in terminals and notebooks.

    Returns
    -------
    Comparison
        A row for each run, means, traces. It is itself an Arrow table of its
        rows.

    Raises
    ------
    Error
        If a scenario, key or sender is invalid: the line that the command
        prints.
    KeyboardInterrupt
        After Ctrl-C. Active runs stop.

    Examples
    --------
    >>> import unruffled
    >>> found = unruffled.compare("rr-3", ["sack", "rack"], seeds=2, duration="5 s")
    >>> len(found.rows)
    4
    """
    if scenario is None:
        raise _core.Error("scenario: expected a name, a file, a dictionary or a scenario")
    times = (counted(seeds), lasting(duration))
    arguments = (plain(scenario), senders(variants), *times, entries(set))
    jobs = threads(jobs)
    if not _progress.is_enabled(progress):
        return _core.compare(*arguments, jobs=jobs)
    with _progress.bar(_core.runs(*arguments), "run", True) as show:
        return _core.compare(*arguments, jobs=jobs, progress=show)


class Variants(list[dict[str, Any]]):
    """A list of senders, each a dictionary, that a notebook shows as a table."""

    def _repr_html_(self) -> str:
        lines = [[one["name"], one["about"], one["source"]] for one in self]
        return _core.html_table("senders", ["name", "about", "source"], lines)


def variants(name: str | None = None) -> Variants:
    """List the senders: name, description, source, parts and parameters.

    Parameters
    ----------
    name
        One sender, which may have parts added, such as ``"rr-ta+cubic"``; all
        senders unless given.

    Returns
    -------
    Variants
        A list of dictionaries, as in ``unruffled variants --json``.

    Examples
    --------
    >>> import unruffled
    >>> unruffled.variants("sack")[0]["name"]
    'sack'
    """
    name = checked("name", name, "a sender's name")
    return Variants(json.loads(_core.variants(name))["variants"])
