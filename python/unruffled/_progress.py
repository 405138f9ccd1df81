"""The progress bar of tqdm, in terminals and notebooks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def is_enabled(progress: bool | None) -> bool:
    """Return whether to draw a bar: in terminals and notebooks, unless given."""
    if progress is not None:
        return progress
    return sys.stderr.isatty() or in_notebook()


def in_notebook() -> bool:
    """Return whether this runs in a notebook's kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return type(shell).__name__ == "ZMQInteractiveShell"


@contextmanager
def bar(
    total: int | None, unit: str, progress: bool | None
) -> Iterator[Callable[[int], None] | None]:
    """Yield a function to call with the number of finished pieces, or None."""
    if not is_enabled(progress):
        yield None
        return
    from tqdm.auto import tqdm

    with tqdm(total=total, unit=unit, leave=False) as drawn:

        def show(done: int) -> None:
            drawn.update(done - drawn.n)

        yield show
