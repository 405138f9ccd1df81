"""What Rust gives the package."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import polars

__version__: str
MODEL: str

class Error(ValueError):
    """A wrong scenario, variant, file or capture.

    One line that says where, and what was expected.
    """

class Table:
    """A table of results: columns in Arrow's layout.

    Whatever reads Arrow reads it without a copy: ``polars.DataFrame(table)``,
    ``pyarrow.table(table)``, ``duckdb.sql("FROM table")``.
    """

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
    @property
    def num_rows(self) -> int:
        """The number of rows."""
    def __len__(self) -> int: ...
    def __getitem__(self, column: str) -> list[Any]: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def to_pydict(self) -> dict[str, list[Any]]:
        """Columns as lists."""
    def to_pylist(self) -> list[dict[str, Any]]:
        """Rows as dictionaries."""
    def to_polars(self) -> polars.DataFrame:
        """Give a Polars data frame, without a copy."""
    def to_pandas(self) -> pandas.DataFrame:
        """Give a pandas data frame."""

class Scenario:
    """A scenario, checked: what flows, over which path, for how long."""

    @property
    def name(self) -> str:
        """Short name."""
    @property
    def title(self) -> str:
        """One line on what it is."""
    @property
    def source(self) -> str:
        """Where it comes from."""
    @property
    def duration_s(self) -> float:
        """Simulated time, warm-up included, in seconds."""
    @property
    def seeds(self) -> int:
        """How many seeds are run."""
    @property
    def variants(self) -> list[str]:
        """Names of the senders that are compared."""
    @property
    def toml(self) -> str:
        """The file's keys with every override."""

class Comparison:
    """Several senders over one scenario; an Arrow table of its rows."""

    @property
    def scenario(self) -> str:
        """The scenario's name."""
    @property
    def title(self) -> str:
        """The scenario's title."""
    @property
    def toml(self) -> str:
        """The scenario with every override: what one needs to run it again."""
    @property
    def notes(self) -> list[str]:
        """What else there is to say of the runs."""
    @property
    def undisturbed_bps(self) -> float:
        """Goodput over the undisturbed path in bits per second: what shares are of."""
    @property
    def reference(self) -> str:
        """What the undisturbed path is: ``in order, nothing lost; limit: link rates``."""
    @property
    def rows(self) -> Table:
        """A row for each run: the columns of ``--csv``."""
    @property
    def summary(self) -> Table:
        """A row for each sender: means, and half-widths of their 95 % intervals."""
    @property
    def flows(self) -> Table:
        """A row for each flow of each run, where there are several flows."""
    @property
    def links(self) -> Table:
        """A row for each link of each run, where there are several flows."""
    @property
    def traces(self) -> Table:
        """Congestion window, thresholds and acknowledgements over time, first seed."""
    @property
    def sent(self) -> Table:
        """Segments sent within the window of the time–sequence plot, first seed."""
    @property
    def reordering_lengths(self) -> Table:
        """How many reorderings of each length the sender saw, first seed."""
    def to_json(self) -> str:
        """Give what ``--json`` prints."""
    def to_csv(self) -> str:
        """Give what ``--csv`` prints."""
    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the HTML report."""
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

class Analysis:
    """What a capture tells; an Arrow table of its transfers."""

    @property
    def capture(self) -> str:
        """The file."""
    @property
    def damage(self) -> str | None:
        """What kept the rest of the file from being read."""
    @property
    def transfers(self) -> Table:
        """A row for each transfer, the largest first."""
    def to_json(self) -> str:
        """Give what ``--json`` prints."""
    def scenario(self, transfer: int = 1, sender: str = ...) -> Scenario:
        """Give the path of a transfer as a scenario."""
    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the HTML page."""
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

class View:
    """The sender's state as detectors see it. Windows in segments."""

    @property
    def now_s(self) -> float:
        """The time."""
    @property
    def cwnd(self) -> float:
        """Congestion window."""
    @property
    def slow_start(self) -> bool:
        """Whether the window is in slow start."""
    @property
    def flight(self) -> int:
        """Segments sent and not cumulatively acknowledged."""
    @property
    def sacked(self) -> int:
        """Segments SACKed and not cumulatively acknowledged."""
    @property
    def srtt_s(self) -> float | None:
        """Smoothed round-trip time, once there is a sample."""
    @property
    def latest_rtt_s(self) -> float | None:
        """The last round-trip time measured."""
    @property
    def min_rtt_s(self) -> float | None:
        """Minimum round-trip time of late."""
    @property
    def rto_s(self) -> float:
        """The retransmission timeout, without backoff."""
    @property
    def recovering(self) -> bool:
        """In fast recovery, or in recovery after a timeout."""
    @property
    def una(self) -> int:
        """Offset of the first octet that is not acknowledged (SND.UNA)."""
    @property
    def nxt(self) -> int:
        """Offset of the next new octet (SND.NXT)."""

class AckFacts:
    """What one acknowledgement said, beyond the scoreboard."""

    @property
    def delivered(self) -> int:
        """Segments newly delivered, cumulatively or selectively."""
    @property
    def sacked(self) -> int:
        """Segments newly SACKed."""
    @property
    def advanced(self) -> bool:
        """It advanced the cumulative point."""
    @property
    def dsack(self) -> bool:
        """It carried a DSACK."""
    @property
    def reordered(self) -> bool:
        """A segment never retransmitted arrived behind a later one."""
    @property
    def latest_sent_s(self) -> float | None:
        """When the latest-sent of the newly delivered segments was sent."""

class Reordering:
    """One hole that closed because its segment was late."""

    @property
    def length(self) -> int:
        """How far the highest delivered segment was ahead of it, in segments."""
    @property
    def delay_s(self) -> float:
        """From the delivery of that segment to that of the late one."""
    @property
    def by_dsack(self) -> bool:
        """A DSACK reported it: the segment had been retransmitted."""

class SpuriousFastRetransmit:
    """A fast retransmit that proved spurious."""

    @property
    def lasted_s(self) -> float:
        """From its beginning to the DSACK that told."""
    @property
    def window(self) -> float:
        """The congestion window before it."""
    @property
    def length(self) -> int | None:
        """Reordering length of the segment that the last DSACK reported."""

class Rule:
    """Which holes are deemed lost now; the conditions add up."""

    def __init__(
        self,
        dupthresh: int | None = None,
        *,
        distance: int | None = None,
        overdue_s: float | None = None,
        eager: bool = False,
        first_hole_due_s: float | None = None,
    ) -> None: ...
    @property
    def dupthresh(self) -> int | None:
        """Lost is every hole with at least this many SACKed segments above it."""
    @property
    def distance(self) -> int | None:
        """Lost is every hole this far below the highest delivered segment."""
    @property
    def overdue_s(self) -> float | None:
        """Lost is every segment sent this long ago, before one that is delivered."""
    @property
    def eager(self) -> bool:
        """Look again when the first of them is due, not only when all are."""
    @property
    def first_hole_due_s(self) -> float | None:
        """The first hole is lost at this time, if it is still open then."""

class GridFile:
    """What is swept, checked."""

    def hypercube(self) -> tuple[int, int, int] | None: ...
    def latin_error(self, reason: str) -> Error: ...

class Sweep:
    """Senders at many points; an Arrow table of its rows."""

    @property
    def note(self) -> str | None:
        """Why no runs are kept, where they should be."""
    @property
    def runs(self) -> int:
        """How many runs there are."""
    @property
    def points(self) -> int:
        """How many points there are."""
    @property
    def keys(self) -> list[str]:
        """The keys that are swept."""
    @property
    def missing(self) -> int:
        """How many runs are not there."""
    @property
    def rows(self) -> Table:
        """A row for each run: its point, the keys' values, the run's columns."""
    @property
    def standings(self) -> Table:
        """A row for each sender: at how many points it wins, and its shares."""
    def estimate(self) -> float: ...
    def announce(self, seconds: float, workers: int, what: str) -> str: ...
    def run(
        self, jobs: int | None = None, progress: Callable[[int], None] | None = None
    ) -> None: ...
    def batches(self, seconds: float) -> list[tuple[bytes, int]]: ...
    def take(self, octets: bytes) -> int: ...
    def to_json(self) -> str:
        """Give what ``--json`` prints."""
    def to_csv(self) -> str:
        """Give what ``--csv`` prints."""
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

def grid(
    given: Any,
    scenario: Any | None = None,
    set: dict[str, Any] | None = None,
    arguments: dict[str, Any] | None = None,
) -> GridFile: ...
def plan(
    grid: GridFile,
    hypercube: list[float] | None = None,
    own: list[Any] | None = None,
    store: str | os.PathLike[str] | None = None,
    usual: bool = False,
    jobs: int | None = None,
) -> Sweep: ...
def make(batch: bytes, own: list[Any] | None = None) -> bytes: ...
def scenario(given: Any, set: dict[str, Any] | None = None) -> Scenario: ...
def variants(name: str | None = None) -> str: ...
def scenarios() -> str: ...
def save_scenario(
    name: str, path: str | os.PathLike[str] | None = None, force: bool = False
) -> str: ...
def runs(
    scenario: Any,
    variants: list[Any] | None = None,
    seeds: int | None = None,
    duration: str | None = None,
    set: dict[str, Any] | None = None,
) -> int: ...
def compare(
    scenario: Any,
    variants: list[Any] | None = None,
    seeds: int | None = None,
    duration: str | None = None,
    set: dict[str, Any] | None = None,
    jobs: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Comparison: ...
def record(
    path: str | os.PathLike[str],
    scenario: Any,
    variant: str,
    seed: int = 1,
    duration: str | None = None,
    set: dict[str, Any] | None = None,
) -> None: ...
def analyze(
    path: str | os.PathLike[str], progress: Callable[[int], None] | None = None
) -> Analysis: ...
def race(
    scenario: Any,
    kernel: list[str],
    variants: list[str],
    duration: str | None,
    bytes: str | None,
    seeds: int,
    set: dict[str, Any] | None,
    together: bool,
    reverse: bool,
    progress: Callable[[int], None] | None,
) -> tuple[Comparison, list[str]]: ...
