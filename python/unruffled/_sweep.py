"""The function ``sweep``: on this machine's cores, or on the workers of a Dask cluster."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unruffled import _core, _progress
from unruffled._detector import Own
from unruffled._latin import latin
from unruffled._types import ScenarioLike, Value, entries, plain, seconds, senders, threads
from unruffled._types import seeds as counted
from unruffled._types import time as lasting

if TYPE_CHECKING:
    from distributed import Client


def sweep(
    scenario: ScenarioLike | None = None,
    grid: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    variants: Sequence[str | Own] | str | None = None,
    seeds: int | None = None,
    duration: str | None = None,
    set: Mapping[str, Value] | None = None,
    *,
    sample: Mapping[str, Any] | None = None,
    store: str | os.PathLike[str] | bool = True,
    client: Client | None = None,
    jobs: int | None = None,
    batch_s: float = 2.0,
    progress: bool | None = None,
    quiet: bool = False,
) -> _core.Sweep:
    """Compare senders at many points: lists, ranges and samples of any keys.

    Runs in the store are not repeated. The number of runs and their estimated time
    are printed on standard error before they begin.

    Parameters
    ----------
    scenario
        A built-in scenario's name, a TOML file, a dictionary, or a scenario. It
        replaces the scenario of a grid file.
    grid
        Keys of the scenario with a list of values, or a range ``{"from": …,
        "to": …, "count": …}`` (or ``"step"``; ``"scale": "log"``; ``"whole":
        True``), which are combined; or a grid file.
    variants, seeds, duration, set
        As for :func:`compare`, at every point.
    sample
        Random points: ``{"method": "random" or "latin", "points": …,
        "seed": …, "keys": {…}}``, combined with those of the grid.
    store
        The file that keeps runs. The default is the command's; False keeps none.
        If the command's file cannot be used, there is a warning.
    client
        A client of a Dask cluster, whose workers make the runs. The default is
        this machine's cores.
    jobs
        Threads on this machine, at most 1024; all cores unless given. Not with
        ``client``.
    batch_s
        The approximate time of the runs that a Dask worker gets at once.
    progress
        Whether to draw a progress bar; unless given, in terminals and notebooks.
    quiet
        Whether to print nothing before the runs begin.

    Returns
    -------
    Sweep
        A row for each run: the point, the values of the keys (seconds, bits per
        second, shares, octets), and the columns of a comparison. It is itself an
        Arrow table of its rows.

    Raises
    ------
    Error
        If a grid, scenario, key or sender is invalid.

    Examples
    --------
    >>> import unruffled
    >>> found = unruffled.sweep(
    ...     "rr-3",
    ...     grid={"delayed.fraction": ["1 %", "10 %"]},
    ...     variants=["sack", "rack"], seeds=1, duration="2 s", store=False, quiet=True,
    ... )
    >>> found.rows["delayed.fraction"]
    [0.01, 0.01, 0.1, 0.1]
    """
    if client is not None and jobs is not None:
        raise _core.Error("sweep: client and jobs: expected only one of them")
    if client is not None and not hasattr(client, "scheduler_info"):
        kind = type(client).__name__
        raise _core.Error(f"client: expected a dask.distributed.Client, found {kind}")
    batch_s = seconds("batch_s", batch_s)
    listed, jobs = senders(variants), threads(jobs)
    own = [variant for variant in listed or [] if isinstance(variant, Own)]
    arguments = _arguments(listed, seeds, duration)
    planned = _plan(scenario, grid, arguments, set, sample, store, own, jobs)
    if planned.note is not None:
        warnings.warn(f"{planned.note} (see store)", stacklevel=2)
    takes = planned.estimate()
    if client is not None:
        _on_dask(planned, client, own, takes, batch_s, progress, quiet)
        return planned
    cores = jobs or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else jobs or 1
    if not quiet:
        print(planned.announce(takes, cores, "core"), file=sys.stderr)
    with _progress.bar(planned.missing, "run", progress) as show:
        planned.run(jobs=jobs, progress=show)
    return planned


def _arguments(
    variants: list[str | Own] | None, seeds: int | None, duration: str | None
) -> dict[str, Any]:
    """Return the keys that have an argument of their own, with their values."""
    arguments: dict[str, Any] = {}
    if variants is not None:
        arguments["variants"] = [variant for variant in variants if isinstance(variant, str)]
        if not arguments["variants"]:
            raise _core.Error("variants: expected at least one sender by its name")
    if seeds is not None:
        arguments["seeds"] = counted(seeds)
    if duration is not None:
        arguments["duration"] = lasting(duration)
    return arguments


def _plan(
    scenario: ScenarioLike | None,
    grid: Mapping[str, Any] | str | os.PathLike[str] | None,
    arguments: dict[str, Any],
    set: Mapping[str, Value] | None,
    sample: Mapping[str, Any] | None,
    store: str | os.PathLike[str] | bool,
    own: list[Own],
    jobs: int | None,
) -> _core.Sweep:
    if sample is not None and not isinstance(sample, Mapping):
        raise _core.Error(f"sample: expected a dictionary, found {type(sample).__name__}")
    if not isinstance(store, bool | str | os.PathLike):
        raise _core.Error(f"store: expected a file, True or False, found {type(store).__name__}")
    if store == "":
        raise _core.Error("store: expected a file, True or False, found nothing")
    given: Any = grid
    if grid is None or isinstance(grid, Mapping):
        if scenario is None:
            raise _core.Error("sweep: expected a scenario, or a grid file that names one")
        given = {"grid": dict(grid or {})}
        if sample is not None:
            given["sample"] = dict(sample)
    elif not isinstance(grid, str | os.PathLike):
        raise _core.Error(f"grid: expected a dictionary or a file, found {type(grid).__name__}")
    elif not os.fspath(grid):
        raise _core.Error("grid: expected a dictionary or a file, found nothing")
    elif sample is not None:
        raise _core.Error("sweep: sample: expected it in the grid file")
    read = _core.grid(given, plain(scenario), entries(set) or {}, arguments)
    hypercube = None
    if (shape := read.hypercube()) is not None:
        try:
            hypercube = latin(*shape)
        except ImportError:
            raise read.latin_error("expected unruffled[latin]") from None
    file = None if isinstance(store, bool) else Path(store)
    return _core.plan(read, hypercube, own, file, store is True, jobs)


def _make(batch: bytes, own: list[Own]) -> bytes:
    """Make a batch of runs on a worker."""
    return _core.make(batch, own)


def _on_dask(
    planned: _core.Sweep,
    client: Client,
    own: list[Own],
    seconds: float,
    batch_s: float,
    progress: bool | None,
    quiet: bool,
) -> None:
    """Distribute the missing runs to a cluster's workers, and store their results."""
    from distributed import as_completed

    threads = sum(worker["nthreads"] for worker in client.scheduler_info(-1)["workers"].values())
    if not quiet:
        print(planned.announce(seconds, threads, "Dask thread"), file=sys.stderr)
    # Several batches per worker, so that all end together and a new worker gets work.
    batches = planned.batches(min(batch_s, seconds / max(threads, 1) / 8))
    # Not pure, since the store and not Dask decides which runs are missing.
    futures = {
        client.submit(_make, batch, own, pure=False, key=f"unruffled-{os.urandom(8).hex()}"): runs
        for batch, runs in batches
    }
    done = 0
    with _progress.bar(planned.missing, "run", progress) as show:
        try:
            finished = as_completed(list(futures), loop=client.loop, with_results=True)
            for future, made in finished:
                done += planned.take(made)
                del futures[future]
                if show is not None:
                    show(done)
        finally:
            # After Ctrl-C or a failure, the other runs are not needed.
            client.cancel(list(futures))
