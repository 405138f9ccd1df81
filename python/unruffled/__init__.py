"""TCP that keeps its speed when the network shuffles packets, from Python.

The simulator, the senders and the analysis of the command ``unruffled``: the
same scenarios, the same numbers, as Arrow tables that Polars, pandas and DuckDB
read without a copy.

>>> import unruffled
>>> found = unruffled.compare("rr-3", variants=["sack", "rr-ta"], seeds=1, duration="10 s")
>>> found.rows["variant"]
['sack', 'rr-ta']
"""

from unruffled._analysis import analyze
from unruffled._compare import compare, scenario, variants
from unruffled._core import (
    MODEL,
    Analysis,
    Comparison,
    Scenario,
    Table,
    __version__,
)
from unruffled._core import (
    UnruffledError as Error,
)

__all__ = [
    "MODEL",
    "Analysis",
    "Comparison",
    "Error",
    "Scenario",
    "Table",
    "__version__",
    "analyze",
    "compare",
    "scenario",
    "variants",
]
