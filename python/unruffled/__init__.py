"""TCP that keeps its speed when the network shuffles packets, from Python.

The simulator, the senders and the analysis of the command ``unruffled``: the
same scenarios, the same numbers, as Arrow tables that Polars, pandas and DuckDB
read.

Functions
---------
compare
    Run several senders over a scenario.
sweep
    Compare senders at many points, here or on a Dask cluster.
race
    Compare this machine's kernel and our senders with real packets (Linux, root).
analyze
    Find out from a capture what slowed its transfers.
record
    Write the packets at a sender as a capture.
scenario
    Load a scenario by its name, from a file or from a dictionary.
scenarios
    List the built-in scenarios.
save_scenario
    Write the file of a built-in scenario, to change it.
variants
    List the senders.
own
    Put a loss detector written in Python into a sender.

``help(unruffled.compare)`` lists the arguments. Invalid arguments raise an
:class:`Error`, which is a :class:`ValueError` of one line. ``MODEL`` is the
version of the simulator; equal versions give equal results.

Examples
--------
>>> import unruffled
>>> found = unruffled.compare("rr-3", variants=["sack", "rr-ta"], seeds=1, duration="10 s")
>>> found.rows["variant"]
['sack', 'rr-ta']
"""

from unruffled._analysis import analyze, record
from unruffled._compare import Variants, compare, scenario, variants
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
    "Variants",
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
