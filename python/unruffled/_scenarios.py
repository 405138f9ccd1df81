"""The scenarios that ship with the package."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from unruffled import _core


def scenarios() -> list[dict[str, Any]]:
    """List the built-in scenarios.

    Each is a dictionary: ``name``, ``title`` (one line on what it is), ``source``,
    ``duration_s``, ``seeds``, ``variants``, and its file as ``toml``. A name is
    what :func:`compare` and the other functions take.

    >>> [one["name"] for one in scenarios()][:2]
    ['rr-3', 'dcr-4']
    """
    return list(json.loads(_core.scenarios()))


def save_scenario(
    name: str, path: str | os.PathLike[str] | None = None, *, force: bool = False
) -> Path:
    """Write the file of a built-in scenario, to change it.

    ``name`` may also be that of a random path (``"7-12"``). The file goes to
    ``path``, by default ``NAME.toml`` in the current folder; what is there already
    is replaced only with ``force``. Returns the path.
    """
    return Path(_core.save_scenario(name, path, force))
