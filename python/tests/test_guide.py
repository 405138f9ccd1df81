"""``docs/guide/python.md``: every block runs, and its tables are correct."""

from __future__ import annotations

import functools
import inspect
import itertools
import json
import os
import re
import sys
from pathlib import Path

import pytest
import unruffled

TEXT = (Path(__file__).parents[2] / "docs/guide/python.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with the grid file of the guide, and an empty cache."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (grid,) = blocks("toml")
    Path("grid.toml").write_text(grid, encoding="utf-8")
    return tmp_path


@pytest.fixture
def short(monkeypatch):
    """Run the guide's calls for less time and with fewer seeds than it asks for."""
    for name in ("compare", "sweep"):
        function = getattr(unruffled, name)

        @functools.wraps(function)
        def shortened(*given, function=function, **more):
            return function(*given, **{"seeds": 2, "duration": "2 s", **more})

        monkeypatch.setattr(unruffled, name, shortened)


def test_every_block_of_python_runs(folder, short, monkeypatch):
    pytest.importorskip("polars")
    pytest.importorskip("pandas")
    pytest.importorskip("scipy")
    distributed = pytest.importorskip("distributed")
    # The blocks form one program. Workers can only import a detector's class from a module.
    names: dict[str, object] = {"__name__": "guide"}
    monkeypatch.setattr(unruffled.sweep, "__kwdefaults__", unruffled.sweep.__kwdefaults__)
    assert len(blocks("python")) >= 4
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None, processes=False
    ) as cluster:
        for block in blocks("python"):
            exec(block.replace("tcp://scheduler:8786", cluster.scheduler_address), names)
            if "client" in block:
                names["found"].standings  # noqa: B018
    assert Path("rr-3.html").stat().st_size > 1000
    patient = names["Patient"]
    assert patient().rule(unruffled.View()) == unruffled.Rule(3)


def test_every_line_for_a_shell_runs(command, folder):
    Path("grid.toml").write_text(
        Path("grid.toml").read_text().replace("seeds = 5", "seeds = 1").replace('"10 s"', '"1 s"')
    )
    lines = "".join(blocks("sh")).splitlines()
    sweeps = [line for line in lines if line.startswith("unruffled sweep")]
    assert len(sweeps) == 5
    for line in sweeps:
        words = line.split("#")[0].split(">")[0].split()
        given = dict(itertools.pairwise(words))
        runs = 360 * len(given.get("--variants", "the,four,of,it").split(","))
        runs *= int(given.get("--seeds", "1"))
        if "--dask" in words:
            continue
        ran = command(*words[1:], env=os.environ | {"UNRUFFLED_PYTHON": sys.executable})
        assert ran.returncode == 0, ran.stderr
        assert f"360 points, {runs} runs" in ran.stderr
        assert Path(given.get("--report", "grid.toml")).stat().st_size > 500
        assert ran.stdout.startswith("point,") == ("--csv" in words)
    pip = next(line for line in lines if line.startswith("pip install '."))
    extras = re.search(r"\[(.*?)\]", pip)[1].split(",")
    settings = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    for extra in extras:
        assert f"\n{extra} = [" in settings


def test_the_extras_have_the_packages_that_notebooks_import():
    import tomllib

    settings = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    extras = settings["project"]["optional-dependencies"]
    names = {re.split(r"[<>=]", requirement)[0] for requirement in extras["notebooks"]}
    assert {"ipykernel", "ipywidgets", "matplotlib", "polars"} <= names
    imported = set()
    for file in (Path(__file__).parents[1] / "examples").glob("*.ipynb"):
        for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                imported |= set(
                    re.findall(r"^(?:import|from) (\w+)", "".join(cell["source"]), re.M)
                )
    assert imported - set(sys.stdlib_module_names) - {"unruffled", "numpy"} <= names


def test_the_sizes_of_sweeps_in_the_text_are_correct(folder):
    pytest.importorskip("scipy")
    from unruffled import _sweep

    planned = _sweep._plan(None, "grid.toml", {}, None, None, False, [], None)
    points, runs = re.search(r"has (\d+) points .*? and (\d+) runs", TEXT).groups()
    assert (planned.points, planned.runs) == (int(points), int(runs)) == (360, 7200)
    second = {
        "delayed.fraction": ["1 %", "10 %"],
        "tcp.window": {"from": 20, "to": 100, "step": 20},
    }
    keys = {"delayed.mean": {"from": "1 ms", "to": "500 ms"}}
    sample = {"method": "latin", "points": 50, "keys": keys}
    planned = _sweep._plan("rr-3", second, {"seeds": 1}, None, sample, False, [], None)
    assert planned.points == 2 * 5 * 50


def test_the_table_of_functions_has_their_arguments_in_order():
    rows = re.findall(r"^\| `(\w+)\((.*?)\)` \|", TEXT, re.M)
    functions = {name for name, _ in rows if hasattr(unruffled, name)}
    assert functions == {
        name for name in unruffled.__all__ if inspect.isfunction(getattr(unruffled, name))
    }
    for name, written in rows:
        if not hasattr(unruffled, name):
            continue
        expected = [word for word in re.split(r",\s*", written) if word and word != "…"]
        parameters = list(inspect.signature(getattr(unruffled, name)).parameters)
        assert expected == parameters[: len(expected)]


def test_results_work_as_the_table_of_results_says(folder, short):
    polars = pytest.importorskip("polars")
    duckdb = pytest.importorskip("duckdb")
    pandas = pytest.importorskip("pandas")
    compared = unruffled.compare("rr-3", ["sack", "rack"])
    swept = unruffled.sweep("rr-3", {"tcp.window": [20]}, ["sack"], store=False, quiet=True)
    unruffled.record("x.pcapng", "few-late", duration="5 s")
    for found in (compared, swept, unruffled.analyze("x.pcapng"), compared.rows):
        assert len(found) == len(list(found)) == found.num_rows > 0
        assert found[0] == next(iter(found)) == found.to_pylist()[0]
        first = found.column_names[0]
        assert first in found
        assert found[first] == found.to_pydict()[first] == found.to_pandas()[first].tolist()
        assert found[-5:].to_pylist() == found.to_pylist()[-5:]
        assert duckdb.sql("SELECT count(*) FROM found").fetchall() == [(len(found),)]
        assert polars.DataFrame(found).equals(found.to_polars())
        pyarrow = pytest.importorskip("pyarrow")
        assert pyarrow.table(found).num_rows == len(found)
        assert isinstance(found.to_pandas(), pandas.DataFrame)


def test_pandas_has_the_same_types_with_and_without_pyarrow(short, monkeypatch):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    found = unruffled.compare("rr-3", ["sack", "rack"])
    for table in (found, found.rows, found.flows, found.traces, found.summary):
        read = table.to_pandas()
        with monkeypatch.context() as without:
            without.setitem(sys.modules, "pyarrow", None)
            copied = table.to_pandas()
        pandas.testing.assert_frame_equal(read, copied)


def test_readers_of_arrow_need_no_pyarrow(short, monkeypatch):
    polars = pytest.importorskip("polars")
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    found = unruffled.compare("rr-3", ["sack"])
    assert polars.DataFrame(found).height == 2
    assert duckdb.sql("SELECT count(*) FROM found").fetchall() == [(2,)]


def test_links_of_the_guide_have_targets():
    for target in re.findall(r"\]\(([^)#]+)\)", TEXT):
        if "://" not in target:
            assert (Path(__file__).parents[2] / "docs/guide" / target).exists(), target
