"""The progress bar: tqdm's, in a terminal and in a notebook."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def wanted(progress: bool | None) -> bool:
    """Whether to draw a bar: where somebody sees it, unless told otherwise."""
    if progress is not None:
        return progress
    return sys.stderr.isatty() or in_notebook()


def in_notebook() -> bool:
    """Whether this runs in a notebook's kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return type(shell).__name__ == "ZMQInteractiveShell"


@contextmanager
def bar(
    total: int | None, unit: str, progress: bool | None
) -> Iterator[Callable[[int], None] | None]:
    """Give what is to be called with the number of pieces done, or none."""
    if not wanted(progress):
        yield None
        return
    from tqdm.auto import tqdm

    with tqdm(total=total, unit=unit, leave=False) as drawn:

        def show(done: int) -> None:
            drawn.update(done - drawn.n)

        yield show
