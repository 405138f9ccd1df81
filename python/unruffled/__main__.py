"""``python -m unruffled``: the command, and the sweeps that it starts for ``--dask``."""

from __future__ import annotations

import sys

from unruffled import _command, _dask


def main() -> int:
    """Run the command, or a sweep on Dask."""
    words = sys.argv[1:]
    is_dask = any(word.partition("=")[0] == "--dask" for word in words)
    return _dask.main() if words[:1] == ["sweep"] and is_dask else _command.main()


if __name__ == "__main__":
    sys.exit(main())
