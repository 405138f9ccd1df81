"""Sweeps have the same rows in the package, in the command, and on a changing cluster."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest
import unruffled

GRID = """
scenario = "rr-3"
variants = ["sack", "rack"]
seeds = 2
duration = "3 s"

[grid]
delayed.fraction = ["1 %", "10 %"]
"bottleneck.queue" = { from = 10, to = 1000, count = 3, scale = "log", whole = true }
"""

LATIN = """
scenario = "rr-3"
variants = ["sack"]
seeds = 1
duration = "1 s"

[sample]
method = "latin"
points = 20
seed = 7
[sample.keys]
delayed.fraction = { from = "0 %", to = "30 %" }
bottleneck.rate = { from = "1 Mbit/s", to = "100 Mbit/s", scale = "log" }
"""

CALL = dict(
    scenario="rr-3",
    grid={
        "delayed.fraction": ["1 %", "10 %"],
        "bottleneck.queue": {"from": 10, "to": 1000, "count": 3, "scale": "log", "whole": True},
    },
    variants=["sack", "rack"],
    seeds=2,
    duration="3 s",
    quiet=True,
)


@pytest.fixture
def grid(tmp_path):
    file = tmp_path / "grid.toml"
    file.write_text(GRID)
    return file


def test_rows_are_those_of_the_command(command, grid):
    theirs = command("sweep", str(grid), "--csv", "--no-store")
    assert theirs.returncode == 0, theirs.stderr
    assert theirs.stderr.startswith("rr-3: 6 points, 24 runs: ")
    for ours in (
        unruffled.sweep(grid=grid, store=False, quiet=True),
        unruffled.sweep(**CALL, store=False),
        unruffled.sweep(**CALL, store=False, jobs=1),
    ):
        assert ours.to_csv() == theirs.stdout
    rows = ours.rows
    assert rows["bottleneck.queue"][:6] == [10.0] * 4 + [100.0] * 2
    assert sum(ours.standings["wins"]) >= 6


def test_command_and_package_draw_the_same_hypercube(command, tmp_path):
    pytest.importorskip("scipy")
    file = tmp_path / "latin.toml"
    file.write_text(LATIN)
    more = os.environ | {"UNRUFFLED_PYTHON": sys.executable}
    theirs = command("sweep", str(file), "--csv", "--no-store", env=more)
    assert theirs.returncode == 0, theirs.stderr
    ours = unruffled.sweep(grid=file, store=False, quiet=True)
    assert ours.to_csv() == theirs.stdout
    # A Latin hypercube of 20 points has one in each twentieth of the range.
    fractions = ours.rows["delayed.fraction"]
    assert sorted(int(fraction / 0.3 * 20) for fraction in fractions) == list(range(20))
    none = command("sweep", str(file), env=os.environ | {"UNRUFFLED_PYTHON": "/nowhere"})
    assert none.returncode == 2
    assert "sample.method: latin is drawn by SciPy" in none.stderr


def test_stored_results_are_not_run_again(command, grid, tmp_path):
    store = tmp_path / "runs.sqlite"
    first = command("sweep", str(grid), "--csv", "--store", str(store))
    from unruffled import _core

    planned = _core.plan(_core.grid(grid), None, None, store)
    assert (planned.runs, planned.missing) == (24, 0), "command and package share the store"
    assert unruffled.sweep(grid=grid, store=store, quiet=True).to_csv() == first.stdout
    wider = _core.plan(_core.grid(grid, None, {"seeds": 3}), None, None, store)
    assert (wider.runs, wider.missing) == (36, 12)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_an_error_of_one_line(grid):
    sweep = [sys.executable, "-m", "unruffled", "sweep", str(grid), "--csv", "--no-store"]
    with open("/dev/full", "w") as full:
        refused = subprocess.run(sweep, stdout=full, stderr=subprocess.PIPE, text=True)
    _, *messages = refused.stderr.splitlines()
    assert messages == ["unruffled: standard output: No space left on device (os error 28)"]
    assert refused.returncode == 2


def test_the_size_of_a_sweep_is_printed_first(capsys):
    unruffled.sweep(**{**CALL, "quiet": False}, store=False, jobs=2)
    printed = capsys.readouterr().err
    assert printed == "rr-3: 6 points, 24 runs: less than a second on 2 cores\n"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ({}, "sweep: expected a scenario, or a grid file that names one"),
        ({"scenario": "nix", "grid": {}}, "nix: no such scenario: expected rr-3"),
        ({"scenario": "rr-3", "grid": {"tcp.windw": [3]}}, "grid.tcp.windw: unknown key"),
        (
            {"scenario": "rr-3", "grid": {"tcp.window": 3}},
            "grid:2: grid.tcp.window: expected a list",
        ),
        (
            {"scenario": "rr-3", "sample": {"method": "sobol"}},
            'sample.method: expected "random" or "latin"',
        ),
        ({"grid": "/nowhere.toml"}, "/nowhere.toml: no such file"),
        (
            {"scenario": "rr-3", "client": object(), "jobs": 2},
            "sweep: client and jobs: expected only one of them",
        ),
        ({"scenario": "rr-3", "batch_s": 0}, "batch_s: expected more than 0 s, found 0"),
        ({"scenario": "rr-3", "batch_s": float("nan")}, "batch_s: expected more than 0 s, found n"),
        ({"scenario": "rr-3", "batch_s": "2 s"}, "batch_s: expected more than 0 s, found 2 s"),
        ({"scenario": "rr-3", "sample": "latin"}, "sample: expected a dictionary, found str"),
        ({"scenario": "rr-3", "grid": [1]}, "grid: expected a dictionary or a file, found list"),
        ({"grid": "/dev/zero"}, "/dev/zero: cannot be read: expected a TOML file (more t"),
        ({"scenario": "rr-3", "seeds": 0}, "seeds: expected a whole number from 1"),
        (
            {"scenario": "rr-3", "seeds": 2, "set": {"seeds": 3}},
            "set: seeds: expected this or seeds, not both",
        ),
        (
            {"scenario": "rr-3", "set": {"window": 20, "tcp.window": 30}},
            "set: tcp.window: stands twice: expected each key once",
        ),
    ],
)
def test_errors_are_exceptions_of_one_line(call, expected):
    with pytest.raises(unruffled.Error) as raised:
        unruffled.sweep(**call, store=False, quiet=True)
    assert expected in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("store", [None, 1])
def test_an_invalid_store_is_refused(store):
    with pytest.raises(unruffled.Error, match="store: expected a file, True or False, found "):
        unruffled.sweep(**CALL, store=store)


def test_a_usual_store_that_cannot_be_written_is_a_warning(monkeypatch, tmp_path):
    (tmp_path / "taken").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "taken"))
    with pytest.warns(UserWarning, match=r"runs.sqlite: .*: results are not kept \(see store\)"):
        found = unruffled.sweep(**CALL)
    assert len(found) == 24


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_sweep_in_a_forked_child_is_that_of_its_parent():
    # Run in a new process, since one that has other threads should not fork.
    program = f"""
import os, unruffled
call = {CALL!r}
first = unruffled.sweep(**call, store=False).to_csv()
child = os.fork()
if child == 0:
    os._exit(unruffled.sweep(**call, store=False).to_csv() != first)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    forked = [sys.executable, "-W", "ignore", "-c", program]
    ended = subprocess.run(forked, capture_output=True, text=True, timeout=60)
    assert (ended.stdout, ended.stderr) == ("0\n", "")


LONG = dict(
    scenario="rr-3",
    grid={"delayed.fraction": ["1 %", "2 %", "5 %", "10 %"], "tcp.window": [20, 30, 40, 50]},
    variants=["sack", "rr-ta", "rack"],
    seeds=10,
    duration="10 s",
    store=False,
    quiet=True,
)


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        yield cluster


def test_killed_and_added_workers_do_not_change_the_results(cluster):
    from distributed import Client

    undisturbed = unruffled.sweep(**LONG).to_csv()
    with Client(cluster, set_as_default=False) as client:
        pids = client.run(os.getpid)
        killed: list[int] = []

        def disturb() -> None:
            # Kill a worker while it has runs, and others are still to do.
            while not killed:
                for address, keys in client.processing().items():
                    if keys and not killed:
                        os.kill(pids[address], signal.SIGKILL)
                        killed.append(len(keys))
            cluster.scale(3)

        disturber = threading.Thread(target=disturb)
        disturber.start()
        disturbed = unruffled.sweep(**LONG, client=client, batch_s=0.1)
        disturber.join(60)
        assert killed
        assert killed[0] > 0, "the killed worker had runs"
        assert disturbed.to_csv() == undisturbed


def test_dask_uses_the_store_and_runs_detectors_in_python(cluster, tmp_path):
    from distributed import Client

    class Three:
        def rule(self, view):
            return unruffled.Rule(3)

    store = tmp_path / "runs.sqlite"
    with Client(cluster, set_as_default=False) as client:
        unruffled.sweep(**CALL, store=store, client=client)
        from unruffled import _core

        grid = _core.grid(
            {"grid": CALL["grid"]}, "rr-3", {"variants": "sack,rack", "seeds": 2, "duration": "3 s"}
        )
        assert _core.plan(grid, None, None, store).missing == 0
        own = {**CALL, "variants": ["sack", unruffled.own("sack", Three)], "seeds": 1}
        rows = unruffled.sweep(**own, store=store, client=client).rows.to_pylist()
    goodput = {(row["point"], row["variant"]): row["goodput_bps"] for row in rows}
    assert len(goodput) == 12
    assert all(goodput[p, "sack"] == goodput[p, "sack+three"] for p in range(6))


def test_the_command_can_run_on_dask(command, cluster, grid):
    here = command("sweep", str(grid), "--csv", "--no-store")
    more = os.environ | {"UNRUFFLED_PYTHON": sys.executable}
    there = command(
        "sweep", str(grid), "--csv", "--no-store", "--dask", cluster.scheduler_address, env=more
    )
    assert there.returncode == 0, there.stderr
    assert there.stdout == here.stdout
    refused = command(
        "sweep", str(grid), "--dask", "x", env=os.environ | {"UNRUFFLED_PYTHON": "/no"}
    )
    assert refused.returncode == 2
    assert refused.stderr.startswith("unruffled: --dask: expected Python with the package")
    refused = command("sweep", str(grid), "--dask", "")
    assert refused.returncode == 2
    assert refused.stderr.startswith("unruffled: a value is required for '--dask <ADDRESS>'")


@pytest.mark.parametrize("address", ["nonsense", " ", "http://scheduler:8786"])
def test_an_invalid_address_is_refused_at_once(command, grid, address):
    pytest.importorskip("distributed")
    more = os.environ | {"UNRUFFLED_PYTHON": sys.executable}
    refused = command("sweep", str(grid), "--no-store", "--dask", address, env=more, timeout=60)
    assert refused.returncode == 2
    assert refused.stderr.startswith(f"unruffled: --dask: {address}: ")
    assert refused.stderr.count("\n") == 1


def test_invalid_results_of_workers_are_refused():
    from unruffled import _core

    planned = _core.plan(_core.grid({"grid": {}}, "rr-3", {"duration": "1 s"}))
    with pytest.raises(unruffled.Error, match="runs from elsewhere: not runs, nor their results"):
        planned.take(b"nonsense")
    with pytest.raises(unruffled.Error, match="runs from elsewhere"):
        _core.make(b"nonsense")


def test_drops_at_far_ends_have_columns_where_a_point_has_them():
    windows = {"link.bottleneck.replay_window": ["none", 32]}
    call = dict(variants=["sack"], seeds=1, duration="2 s", store=False, quiet=True)
    rows = unruffled.sweep("few-late", windows, **call).rows
    drops = rows["replay_drops"]
    assert drops[0] is None
    assert drops[1] > 0
    without = unruffled.compare("few-late", ["sack"], 1, duration="2 s").rows
    assert "replay_drops" not in without.column_names
    window = {"link.bottleneck.replay_window": 32}
    found = unruffled.compare("few-late", ["sack"], 1, duration="2 s", set=window)
    assert found.rows["replay_drops"] == [drops[1]]
