"""Latin hypercubes, drawn by SciPy. The command runs this file as a program."""

from __future__ import annotations


def latin(points: int, dimensions: int, seed: int) -> list[float]:
    """Draw the points of a Latin hypercube, one after another.

    Parameters
    ----------
    points
        The number of points.
    dimensions
        The number of coordinates of each.
    seed
        The seed of the random numbers.

    Returns
    -------
    list of float
        Numbers from 0 to 1.
    """
    from scipy.stats import qmc

    drawn = qmc.LatinHypercube(dimensions, **_from(seed)).random(points)
    return [float(number) for number in drawn.ravel()]


def _from(seed: int) -> dict[str, int]:
    """Return the seed under the name that this version of SciPy uses."""
    import inspect

    from scipy.stats import qmc

    names = inspect.signature(qmc.LatinHypercube).parameters
    return {"rng" if "rng" in names else "seed": seed}


if __name__ == "__main__":
    import sys

    try:
        print(*map(repr, latin(*map(int, sys.argv[1:4]))))
    except ImportError:
        sys.exit("no SciPy: expected python3 with scipy, or UNRUFFLED_PYTHON that names one")
