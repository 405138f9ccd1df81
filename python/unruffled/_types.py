"""What the package's functions take."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from unruffled._core import Scenario

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
