"""The functions ``scenarios`` and ``save_scenario``."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from unruffled import _core
from unruffled._types import path as file
from unruffled._types import text, truth


def scenarios() -> list[dict[str, Any]]:
    """List the built-in scenarios.

    Returns
    -------
    list
        A dictionary for each: ``name``, ``title`` (a one-line description), ``source``,
        ``duration_s``, ``seeds``, ``variants``, and its file as ``toml``. Use the name
        as an argument of :func:`compare` and the other functions.

    Examples
    --------
    >>> import unruffled
    >>> [one["name"] for one in unruffled.scenarios()][:2]
    ['rr-3', 'dcr-4']
    """
    return list(json.loads(_core.scenarios()))


def save_scenario(
    name: str, path: str | os.PathLike[str] | None = None, *, force: bool = False
) -> Path:
    """Write the file of a built-in scenario, to change it.

    Parameters
    ----------
    name
        The scenario, or a random path, such as ``"7-12"``.
    path
        The file. The default is ``NAME.toml`` in the current folder.
    force
        Whether to replace an existing file with another text.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    Error
        If the name is unknown, or the file exists already or cannot be written.
    """
    if not text("name", name, "a scenario's name"):
        found = "None" if name is None else "nothing"
        raise _core.Error(f"name: expected a scenario's name, found {found}")
    where = None if path is None else file("path", path)
    return Path(_core.save_scenario(name, where, truth("force", force)))
