"""What Rust gives the package."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import polars

__version__: str
MODEL: str

class UnruffledError(ValueError):
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
        """Goodput of ``sack`` over the same path without impairments."""
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

def scenario(given: Any, set: dict[str, Any] | None = None) -> Scenario: ...
def variants(name: str | None = None) -> str: ...
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
def analyze(
    path: str | os.PathLike[str], progress: Callable[[int], None] | None = None
) -> Analysis: ...
