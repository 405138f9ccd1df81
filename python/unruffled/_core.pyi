"""The part of the package that is written in Rust. Its public names are those of `unruffled`."""

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, SupportsIndex, final, overload

if TYPE_CHECKING:
    import pandas
    import polars

__all__ = [
    "MODEL",
    "AckFacts",
    "Analysis",
    "Comparison",
    "Error",
    "GridFile",
    "Reordering",
    "Rows",
    "Rule",
    "Scenario",
    "SpuriousFastRetransmit",
    "Sweep",
    "Table",
    "View",
    "__version__",
    "analyze",
    "command",
    "compare",
    "grid",
    "html_table",
    "make",
    "plan",
    "race",
    "record",
    "restore",
    "runs",
    "save_scenario",
    "scenario",
    "scenarios",
    "variants",
]
__version__: str
MODEL: str

class Error(ValueError):
    """A wrong argument, scenario, sender, file or capture.

    One line names the place, and what was expected.
    """

@final
class Table:
    """A table of results: columns in Arrow's layout.

    Every library that reads Arrow can read it: ``polars.DataFrame(table)``,
    ``pyarrow.table(table)``, ``duckdb.sql("FROM table")``. Numbers are not copied.

    ``len(table)`` is the number of rows, and iteration gives each row as a dictionary.
    ``table["variant"]`` is a column as a list, ``table[0]`` a row, ``table[:3]`` a table of three
    rows; ``"variant" in table`` tests whether there is such a column.
    """

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
    @property
    def num_rows(self) -> int:
        """The number of rows."""
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: str, /) -> list[Any]: ...
    @overload
    def __getitem__(self, key: SupportsIndex, /) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: slice, /) -> Table: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...
    def __contains__(self, key: object, /) -> bool: ...
    def to_pydict(self) -> dict[str, list[Any]]:
        """Return the columns as lists, by their names."""
    def to_pylist(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries."""
    def to_polars(self) -> polars.DataFrame:
        """Return the rows as a Polars data frame, without copying the numbers."""
    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows as a pandas data frame."""
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def __eq__(self, value: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]

@final
class Rows:
    """The rows of a table, one after another."""

    def __iter__(self) -> Rows: ...
    def __next__(self) -> dict[str, Any]: ...

@final
class Scenario:
    """A checked scenario: traffic, path and duration.

    :func:`unruffled.scenario` returns it. Scenarios are equal if all of their keys are.
    """

    @property
    def name(self) -> str:
        """The short name."""
    @property
    def title(self) -> str:
        """A one-line description."""
    @property
    def source(self) -> str:
        """The source, such as a paper and its section."""
    @property
    def duration_s(self) -> float:
        """The simulated time in seconds, warm-up included."""
    @property
    def seeds(self) -> int:
        """The number of seeds."""
    @property
    def variants(self) -> list[str]:
        """The names of the compared senders."""
    @property
    def toml(self) -> str:
        """The scenario as a TOML file, with every override applied."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Comparison:
    """Several senders over one scenario: a row for each run, and other records.

    :func:`unruffled.compare` and :func:`unruffled.race` return it. It is a table of its rows, like
    :class:`unruffled.Table`: ``len(found)``, ``found["goodput_bps"]``, ``found[0]``, iteration,
    ``polars.DataFrame(found)``.
    """

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
    @property
    def num_rows(self) -> int:
        """The number of rows."""
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: str, /) -> list[Any]: ...
    @overload
    def __getitem__(self, key: SupportsIndex, /) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: slice, /) -> Table: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...
    def __contains__(self, key: object, /) -> bool: ...
    def to_pydict(self) -> dict[str, list[Any]]:
        """Return the columns as lists, by their names."""
    def to_pylist(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries."""
    def to_polars(self) -> polars.DataFrame:
        """Return the rows as a Polars data frame, without copying the numbers."""
    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows as a pandas data frame."""
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    @property
    def scenario(self) -> str:
        """The scenario's name."""
    @property
    def title(self) -> str:
        """The scenario's title."""
    @property
    def toml(self) -> str:
        """The scenario as TOML with every override, to repeat the run."""
    @property
    def notes(self) -> list[str]:
        """Notes on the runs, such as those of a race on its transfers."""
    @property
    def undisturbed_bps(self) -> float:
        """Goodput over the undisturbed path in bits per second, the base of shares."""
    @property
    def reference(self) -> str:
        """A description of the undisturbed path: ``in order, nothing lost; limit: link rates``."""
    @property
    def rows(self) -> Table:
        """A row for each run: the columns of ``unruffled compare --csv``."""
    @property
    def summary(self) -> Table:
        """A row for each sender: means, and half-widths of their 95 % intervals (``_ci95``)."""
    @property
    def flows(self) -> Table:
        """A row for each flow of each run, if there are several flows."""
    @property
    def links(self) -> Table:
        """A row for each link of each run, if there are several flows."""
    @property
    def traces(self) -> Table:
        """Congestion window, thresholds and acknowledgements over time, first seed."""
    @property
    def sent(self) -> Table:
        """Segments sent within the window of the time–sequence plot, first seed."""
    @property
    def reordering_lengths(self) -> Table:
        """Reorderings of each length that the sender noticed, first seed."""
    def to_json(self) -> str:
        """Return the output of ``unruffled compare --json``."""
    def to_csv(self) -> str:
        """Return the output of ``unruffled compare --csv``."""
    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the HTML report to a file."""
    def __eq__(self, value: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]

@final
class Analysis:
    """The transfers of a capture, and what slowed each.

    :func:`unruffled.analyze` returns it. It is a table of its transfers, like
    :class:`unruffled.Table`: ``len(found)``, ``found["cause"]``, ``found[0]``, iteration,
    ``polars.DataFrame(found)``. It cannot be pickled; its transfers, its JSON and its scenarios
    can.
    """

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
    @property
    def num_rows(self) -> int:
        """The number of rows."""
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: str, /) -> list[Any]: ...
    @overload
    def __getitem__(self, key: SupportsIndex, /) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: slice, /) -> Table: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...
    def __contains__(self, key: object, /) -> bool: ...
    def to_pydict(self) -> dict[str, list[Any]]:
        """Return the columns as lists, by their names."""
    def to_pylist(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries."""
    def to_polars(self) -> polars.DataFrame:
        """Return the rows as a Polars data frame, without copying the numbers."""
    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows as a pandas data frame."""
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    @property
    def capture(self) -> str:
        """The name of the file."""
    @property
    def damage(self) -> str | None:
        """The reason why the rest of the file could not be read, if any."""
    @property
    def transfers(self) -> Table:
        """A row for each transfer, the largest first."""
    def to_json(self) -> str:
        """Return the output of ``unruffled analyze --json``."""
    def scenario(self, transfer: int = 1, sender: str = ...) -> Scenario:
        """Return the path of a transfer, counted from 1, as a scenario.

        ``sender`` is the sender that the model runs instead of the captured one.
        """
    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the HTML page to a file."""
    def __eq__(self, value: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]

@final
class View:
    """The sender's state, as passed to detectors. Windows are in segments.

    The engine creates it; tests of a detector can create one, too.
    """

    def __new__(
        cls,
        *,
        now_s: float = 0.0,
        cwnd: float = 10.0,
        slow_start: bool = True,
        flight: int = 0,
        sacked: int = 0,
        srtt_s: float | None = None,
        latest_rtt_s: float | None = None,
        min_rtt_s: float | None = None,
        rto_s: float = 1.0,
        recovering: bool = False,
        una: int = 0,
        nxt: int = 0,
    ) -> View: ...
    @property
    def now_s(self) -> float:
        """The time in seconds since the start of the run."""
    @property
    def cwnd(self) -> float:
        """The congestion window."""
    @property
    def slow_start(self) -> bool:
        """Whether the window is in slow start."""
    @property
    def flight(self) -> int:
        """The number of segments sent and not cumulatively acknowledged."""
    @property
    def sacked(self) -> int:
        """The number of segments SACKed and not cumulatively acknowledged."""
    @property
    def srtt_s(self) -> float | None:
        """The smoothed round-trip time in seconds, once there is a sample."""
    @property
    def latest_rtt_s(self) -> float | None:
        """The last round-trip time measured, in seconds."""
    @property
    def min_rtt_s(self) -> float | None:
        """The minimum of the recent round-trip times, in seconds."""
    @property
    def rto_s(self) -> float:
        """The retransmission timeout in seconds, without backoff."""
    @property
    def recovering(self) -> bool:
        """Whether the sender is in fast recovery, or in recovery after a timeout."""
    @property
    def una(self) -> int:
        """The offset of the first octet that is not acknowledged (SND.UNA)."""
    @property
    def nxt(self) -> int:
        """The offset of the next new octet (SND.NXT)."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class AckFacts:
    """The contents of one acknowledgement, beyond the scoreboard."""

    def __new__(
        cls,
        *,
        delivered: int = 0,
        sacked: int = 0,
        advanced: bool = False,
        dsack: bool = False,
        reordered: bool = False,
        latest_sent_s: float | None = None,
    ) -> AckFacts: ...
    @property
    def delivered(self) -> int:
        """The number of segments newly delivered, cumulatively or selectively."""
    @property
    def sacked(self) -> int:
        """The number of segments newly SACKed."""
    @property
    def advanced(self) -> bool:
        """Whether it advanced the cumulative point."""
    @property
    def dsack(self) -> bool:
        """Whether it carried a DSACK."""
    @property
    def reordered(self) -> bool:
        """Whether a segment never retransmitted arrived behind a later one."""
    @property
    def latest_sent_s(self) -> float | None:
        """The latest send time of the newly delivered segments, in seconds."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Reordering:
    """One hole that closed because its segment was late."""

    def __new__(
        cls,
        *,
        length: int = 0,
        delay_s: float = 0.0,
        by_dsack: bool = False,
    ) -> Reordering: ...
    @property
    def length(self) -> int:
        """The distance to the highest delivered segment, in segments."""
    @property
    def delay_s(self) -> float:
        """The seconds from the delivery of that segment to that of the late one."""
    @property
    def by_dsack(self) -> bool:
        """Whether a DSACK reported it: the segment had been retransmitted."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class SpuriousFastRetransmit:
    """A fast retransmit that proved spurious."""

    def __new__(
        cls,
        *,
        lasted_s: float = 0.0,
        window: float = 0.0,
        length: int | None = None,
    ) -> SpuriousFastRetransmit: ...
    @property
    def lasted_s(self) -> float:
        """The seconds from its start to the DSACK that proved it spurious."""
    @property
    def window(self) -> float:
        """The congestion window before it, in segments."""
    @property
    def length(self) -> int | None:
        """The reordering length of the segment that the last DSACK reported."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Rule:
    """The holes that are deemed lost now. A hole needs to meet one condition.

    ``rule`` of a detector returns it; see :class:`unruffled.Detector`.
    """

    def __new__(
        cls,
        dupthresh: int | None = None,
        *,
        distance: int | None = None,
        overdue_s: float | None = None,
        eager: bool = False,
        first_hole_due_s: float | None = None,
    ) -> Rule: ...
    @property
    def dupthresh(self) -> int | None:
        """Every hole with at least this many SACKed segments above it is lost."""
    @property
    def distance(self) -> int | None:
        """Every hole this far below the highest delivered segment is lost."""
    @property
    def overdue_s(self) -> float | None:
        """Every segment sent this long ago, before one that is delivered, is lost."""
    @property
    def eager(self) -> bool:
        """Whether to check again when the first of them is due, and not only when all are."""
    @property
    def first_hole_due_s(self) -> float | None:
        """The first hole is lost at this time, if it is still open then."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class GridFile:
    """A checked grid, before its runs are planned."""

    def hypercube(self) -> tuple[int, int, int] | None:
        """Return points, dimensions and seed of the Latin hypercube that has to be drawn."""
    def latin_error(self, reason: str) -> Error:
        """Return the error of drawing the Latin hypercube."""

@final
class Sweep:
    """Senders at many points: a row for each finished run.

    :func:`unruffled.sweep` returns it. It is a table of its rows, like :class:`unruffled.Table`:
    ``len(found)``, ``found["goodput_bps"]``, ``found[0]``, iteration, ``polars.DataFrame(found)``.
    """

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
    @property
    def num_rows(self) -> int:
        """The number of rows."""
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: str, /) -> list[Any]: ...
    @overload
    def __getitem__(self, key: SupportsIndex, /) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: slice, /) -> Table: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...
    def __contains__(self, key: object, /) -> bool: ...
    def to_pydict(self) -> dict[str, list[Any]]:
        """Return the columns as lists, by their names."""
    def to_pylist(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries."""
    def to_polars(self) -> polars.DataFrame:
        """Return the rows as a Polars data frame, without copying the numbers."""
    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows as a pandas data frame."""
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    @property
    def note(self) -> str | None:
        """The reason why no runs are kept, although they should be."""
    @property
    def runs(self) -> int:
        """The number of runs."""
    @property
    def points(self) -> int:
        """The number of points."""
    @property
    def keys(self) -> list[str]:
        """The keys that are swept."""
    @property
    def missing(self) -> int:
        """The number of runs that are not finished."""
    @property
    def rows(self) -> Table:
        """A row for each run: its point, the values of the keys, and the run's columns."""
    @property
    def standings(self) -> Table:
        """A row for each sender: the points at which it wins, and its shares of the best."""
    def estimate(self) -> float:
        """Make some of the missing runs, and return the seconds the others take on one core."""
    def announce(self, seconds: float, workers: int, what: str) -> str:
        """Return the line that is printed before the runs begin."""
    def run(self, jobs: int | None = None, progress: Callable[[int], None] | None = None) -> None:
        """Make the missing runs on this machine."""
    def batches(self, seconds: float) -> list[tuple[bytes, int]]:
        """Return the missing runs in batches of about ``seconds``, and the runs of each."""
    def take(self, octets: bytes) -> int:
        """Store a worker's results of a batch, and return the number of its runs."""
    def to_json(self) -> str:
        """Return the output of ``unruffled sweep --json``."""
    def to_csv(self) -> str:
        """Return the output of ``unruffled sweep --csv``."""
    def __eq__(self, value: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]

def grid(
    given: Any,
    scenario: Any | None = None,
    set: dict[str, Any] | None = None,
    arguments: dict[str, Any] | None = None,
) -> GridFile:
    """Read a grid from a file, or from a dictionary with the same keys.

    `set` replaces keys of the scenario, as do `arguments`, whose names are keys.
    """

def plan(
    grid: GridFile,
    hypercube: list[float] | None = None,
    own: list[Any] | None = None,
    store: str | os.PathLike[str] | None = None,
    usual: bool = False,
    jobs: int | None = None,
) -> Sweep:
    """Plan a sweep on ``jobs`` threads, and look up its runs in a store.

    The store is the file `store`, or the default one.
    """

def command(arguments: list[str], again: list[str], has_stdout: bool) -> int:
    """Run the command with these arguments, and return its exit status.

    `again` is a command line that starts it in another process.
    """

def html_table(caption: str, heads: list[str], lines: list[list[str]]) -> str:
    """Write a table as HTML."""

def restore(kind: str, octets: bytes, own: list[Any] | None = None) -> Any:
    """Restore a pickled value."""

def make(batch: bytes, own: list[Any] | None = None) -> bytes:
    """Make a batch of runs on this thread, without the GIL, for workers."""

def scenario(given: Any, set: dict[str, Any] | None = None) -> Scenario:
    """Load a scenario by name, from a file, or from a dictionary."""

def variants(name: str | None = None) -> str:
    """Return the output of the command's `variants --json`."""

def scenarios() -> str:
    """Return the output of the command's `scenarios --json`."""

def save_scenario(
    name: str, path: str | os.PathLike[str] | None = None, force: bool = False
) -> str:
    """Write the file of a built-in scenario to `path`, or to ``NAME.toml``, and return the path."""

def runs(
    scenario: Any,
    variants: list[Any] | None = None,
    seeds: int | None = None,
    duration: str | None = None,
    set: dict[str, Any] | None = None,
) -> int:
    """Return the number of runs that `compare` makes."""

def compare(
    scenario: Any,
    variants: list[Any] | None = None,
    seeds: int | None = None,
    duration: str | None = None,
    set: dict[str, Any] | None = None,
    jobs: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Comparison:
    """Run several senders over a scenario."""

def record(
    path: str | os.PathLike[str],
    scenario: Any,
    variant: str,
    seed: int = 1,
    duration: str | None = None,
    set: dict[str, Any] | None = None,
) -> None:
    """Write the packets at a sender of the scenario as pcapng."""

def analyze(
    path: str | os.PathLike[str], progress: Callable[[int], None] | None = None
) -> Analysis:
    """Read a capture."""

def race(
    scenario: Any,
    kernel: list[str],
    variants: list[str],
    stack: list[str],
    stacks: str | os.PathLike[str],
    duration: str | None = None,
    bytes: str | None = None,
    seeds: int = 1,
    set: dict[str, Any] | None = None,
    together: bool = False,
    reverse: bool = False,
    progress: Callable[[int], None] | None = None,
) -> tuple[Comparison, list[str]]:
    """Let the kernel, our senders and foreign stacks make the same transfer."""
