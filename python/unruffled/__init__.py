"""TCP that keeps its speed when the network shuffles packets, from Python.

The simulator, the senders and the analysis of the command ``unruffled``: the
same scenarios, the same numbers, as Arrow tables that Polars, pandas and DuckDB
read without a copy.

>>> import unruffled
>>> found = unruffled.compare("rr-3", variants=["sack", "rr-ta"], seeds=1, duration="10 s")
>>> found.rows["variant"]
['sack', 'rr-ta']
"""

from unruffled._analysis import analyze, record
from unruffled._compare import compare, scenario, variants
from unruffled._core import (
    MODEL,
    AckFacts,
    Analysis,
    Comparison,
    Error,
    Reordering,
    Rule,
    Scenario,
    SpuriousFastRetransmit,
    Sweep,
    Table,
    View,
    __version__,
)
from unruffled._detector import Detector, Own, own
from unruffled._race import race
from unruffled._scenarios import save_scenario, scenarios
from unruffled._sweep import sweep

__all__ = [
    "MODEL",
    "AckFacts",
    "Analysis",
    "Comparison",
    "Detector",
    "Error",
    "Own",
    "Reordering",
    "Rule",
    "Scenario",
    "SpuriousFastRetransmit",
    "Sweep",
    "Table",
    "View",
    "__version__",
    "analyze",
    "compare",
    "own",
    "race",
    "record",
    "save_scenario",
    "scenario",
    "scenarios",
    "sweep",
    "variants",
]
