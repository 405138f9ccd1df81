"""``analyze``."""

from __future__ import annotations

import os

from unruffled import _core, _progress


def analyze(capture: str | os.PathLike[str], *, progress: bool | None = None) -> _core.Analysis:
    """Read a capture: what slowed its connections, and whether packets overtook each other.

    Parameters
    ----------
    capture
        A pcap or pcapng file, also compressed with gzip.
    progress
        Whether to draw a progress bar; unless given, in terminals and notebooks.

    Returns
    -------
    Analysis
        The transfers, largest first, with what slowed each and what reordering
        cost it. It is an Arrow table itself: that of its transfers.

    Raises
    ------
    Error
        A file that is no capture: the line that the command prints.
    """
    path = os.fspath(capture)
    size = os.path.getsize(path) if os.path.isfile(path) else None
    with _progress.bar(size, "B", progress) as show:
        return _core.analyze(path, progress=show)
