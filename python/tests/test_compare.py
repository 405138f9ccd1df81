"""``compare`` gives the same rows as the command, as tables, and can be interrupted."""

from __future__ import annotations

import csv
import io
import pickle

import pytest
import unruffled
from conftest import in_python

SHORT = ["--duration", "5 s", "--seeds", "3", "--no-report", "--csv"]

SEVERAL = {
    "name": "several",
    "duration": "5 s",
    "seeds": 2,
    "variants": ["sack", "rack"],
    "path": {"hops": ["l"]},
    "link": {"l": {"rate": "5 Mbit/s", "delay": "10 ms", "queue": 30, "loss": {"fraction": 0.01}}},
    "traffic": [{"name": "ours", "count": 2}, {"name": "beside", "sender": "reno"}],
}


def cells(table: unruffled.Table) -> list[dict[str, str]]:
    """Return a table's rows as the command's CSV has them."""

    def cell(value: object) -> str:
        return "" if value is None else str(value)

    def number(value: object) -> str:
        return repr(value) if isinstance(value, float) else cell(value)

    return [{name: number(value) for name, value in row.items()} for row in table.to_pylist()]


def same(ours: dict[str, str], theirs: dict[str, str]) -> bool:
    """Return whether two rows are equal, with numbers compared bit for bit."""

    def equal(a: str, b: str) -> bool:
        try:
            return float(a) == float(b)
        except ValueError:
            return a == b

    return ours.keys() == theirs.keys() and all(equal(ours[k], theirs[k]) for k in ours)


@pytest.mark.parametrize(
    ("scenario", "variants"),
    [
        ("rr-3", [v["name"] for v in unruffled.variants()]),
        ("half-late", ["unruffled", "rr-ta+cubic", "tcp-pr-sack"]),
        ("burst", None),
        ("satellite", ["sack", "rack"]),
    ],
)
def test_all_rows_are_those_of_the_command(command, scenario, variants):
    arguments = [] if variants is None else ["--variants", ",".join(variants)]
    theirs = command("compare", scenario, *arguments, *SHORT)
    assert theirs.returncode == 0, theirs.stderr
    ours = unruffled.compare(scenario, variants, seeds=3, duration="5 s")
    assert ours.to_csv() == theirs.stdout
    rows = list(csv.DictReader(io.StringIO(theirs.stdout)))
    assert len(rows) == len(ours.rows) > 0
    assert list(rows[0]) == ours.rows.column_names
    for row, expected in zip(cells(ours.rows), rows, strict=True):
        assert same(row, expected), (row, expected)


def test_a_dictionary_can_be_a_scenario_with_several_flows(command, tmp_path):
    ours = unruffled.compare(SEVERAL)
    file = tmp_path / "several.toml"
    file.write_text(unruffled.scenario(SEVERAL).toml)
    theirs = command("compare", str(file), "--no-report", "--json")
    assert ours.to_json() == theirs.stdout
    assert len(ours.flows) == 2 * 2 * 3
    assert {"ours", "beside"} == {row["group"] for row in ours.flows.to_pylist()}
    assert len(ours.links) > 0
    again = unruffled.compare(unruffled.scenario(file))
    assert again.to_csv() == ours.to_csv() == unruffled.compare(file).to_csv()


def test_results_are_the_same_on_any_number_of_threads():
    one = unruffled.compare("rr-3", ["sack", "rr-ta"], 4, "5 s", jobs=1)
    two = unruffled.compare("rr-3", "sack,rr-ta", 4, "5 s", jobs=2)
    assert one.to_json() == two.to_json()


def test_any_key_can_be_set_with_any_value():
    scenario = unruffled.scenario(
        "rr-3", set={"delayed.fraction": 0.2, "tcp.window": 40, "tcp.delayed_ack": True}
    )
    assert "fraction = 0.2" in scenario.toml
    assert "window = 40" in scenario.toml
    assert "delayed_ack = true" in scenario.toml


def test_a_link_can_restore_the_order():
    def goodput(**keys):
        return unruffled.compare("half-late", "sack", 1, "20 s", **keys).rows["goodput_bps"][0]

    held = goodput(set={"link.bottleneck.resequence": True})
    assert held > 2 * goodput()
    # Late packets need 200 ms.
    assert held > 2 * goodput(set={"link.bottleneck.resequence.max_hold": "10 ms"})


def test_scalars_of_numpy_are_taken_as_python_numbers():
    numpy = pytest.importorskip("numpy")
    values = {
        "delayed.fraction": numpy.float64(0.2),
        "tcp.window": numpy.int64(40),
        "tcp.delayed_ack": numpy.bool_(True),
    }
    scenario = unruffled.scenario("rr-3", set=values)
    for line in ("fraction = 0.2", "window = 40", "delayed_ack = true"):
        assert line in scenario.toml


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ({"scenario": "nix"}, ["nix"]),
        ({"seeds": 0}, ["--seeds", "0"]),
        ({"duration": "x"}, ["--duration", "x"]),
        ({"set": {"tcp.windw": "3"}}, ["--set", "tcp.windw=3"]),
        ({"set": {"delayed.fraction": "200 %"}}, ["--set", "delayed.fraction=200 %"]),
        ({"scenario": "rr-3", "set": {"rate": "1 Mbit/s"}}, ["rr-3", "--set", "rate=1 Mbit/s"]),
        ({"variants": ["bbr3"]}, ["--variants", "bbr3"]),
        ({"set": {"variants": "bbr3"}}, ["--set", "variants=bbr3"]),
        (
            {"set": {"variants": "sack"}, "variants": ["rack"]},
            ["--set", "variants=sack", "--variants", "rack"],
        ),
        ({"set": {"seeds": 2}, "seeds": 3}, ["--set", "seeds=2", "--seeds", "3"]),
        ({"variants": ["sack", "sack"]}, ["--variants", "sack,sack"]),
        ({"variants": ["tcp-pr+cubic"]}, ["--variants", "tcp-pr+cubic"]),
        ({"scenario": "/"}, ["/"]),
    ],
)
def test_errors_are_exceptions_with_the_message_of_the_command(command, call, arguments):
    refused = command("compare", *arguments, "--no-report")
    assert refused.returncode == 2
    with pytest.raises(unruffled.Error) as raised:
        unruffled.compare(**call)
    assert str(raised.value) == in_python(refused.stderr)
    assert isinstance(raised.value, ValueError)


def test_errors_can_be_sent_to_other_processes():
    error = pickle.loads(pickle.dumps(unruffled.Error("seeds: expected one")))
    assert type(error) is unruffled.Error
    assert str(error) == "seeds: expected one"


def test_a_report_never_replaces_its_scenario(tmp_path, monkeypatch):
    mine = tmp_path / "mine.toml"
    text = unruffled.scenario("rr-3").toml
    mine.write_text(text)
    found = unruffled.compare(mine, ["sack"], seeds=1, duration="1 s")
    with pytest.raises(unruffled.Error, match=r"mine\.toml: would replace the scenario"):
        found.report(mine)
    # From whichever folder it was read, and in whichever folder the process is now.
    monkeypatch.chdir(tmp_path)
    loaded = unruffled.compare(unruffled.scenario("mine.toml"), ["sack"], seeds=1, duration="1 s")
    monkeypatch.chdir("/")
    with pytest.raises(unruffled.Error, match=r"mine\.toml: would replace the scenario"):
        loaded.report(mine)
    assert mine.read_text() == text
    found.report(tmp_path / "page.html")
    assert "<html" in (tmp_path / "page.html").read_text()


def test_a_value_that_no_scenario_can_have_is_refused():
    with pytest.raises(unruffled.Error, match=r"delayed\.fraction: expected a string, number"):
        unruffled.scenario("rr-3", set={"delayed.fraction": object()})


@pytest.mark.parametrize("run", [unruffled.compare, unruffled.sweep])
@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ({"jobs": 0}, "jobs: expected a whole number from 1 to 1024, found 0"),
        ({"jobs": -1}, "jobs: expected a whole number from 1 to 1024, found -1"),
        ({"jobs": 20_000}, "jobs: expected a whole number from 1 to 1024, found 20000"),
        ({"jobs": 2**70}, "jobs: expected a whole number from 1 to 1024, found int"),
        ({"jobs": 1.5}, "jobs: expected a whole number from 1 to 1024, found float"),
        ({"variants": []}, "variants: expected at least one sender, found none"),
        ({"variants": [5]}, "variants: expected names of senders, or unruffled.own, found int"),
        ({"variants": 5}, "variants: expected names of senders, or unruffled.own, found int"),
        ({"seeds": 10**30}, r"seeds: expected a number from -2\^63 to 2\^63 - 1"),
        ({"set": {"tcp.window": 2**70}}, r"tcp\.window: expected a number from -2\^63 to"),
        ({"set": "tcp.window=50"}, "set: expected a dictionary of keys and values, found str"),
        ({"set": 5}, "set: expected a dictionary of keys and values, found int"),
        ({"set": {1: 1}}, "set: expected strings as keys, found int"),
        ({"scenario": {"tcp": {2: 1}}}, "tcp: expected strings as keys, found int"),
    ],
)
def test_invalid_arguments_are_named(run, call, expected):
    with pytest.raises(unruffled.Error, match=expected):
        run(**{"scenario": "rr-3", **call})


def test_values_that_contain_themselves_are_refused():
    table: dict[str, object] = {}
    table["a"] = table
    listed: list[object] = []
    listed.append(listed)
    expected = "a: expected at most 64 levels of values"
    for given in (table, {"a": listed}, {"a": [table]}):
        with pytest.raises(unruffled.Error, match=expected):
            unruffled.compare(given)
        with pytest.raises(unruffled.Error, match=expected):
            unruffled.scenario("rr-3", set={"a": given["a"]})
    with pytest.raises(unruffled.Error, match="levels of values"):
        unruffled.sweep("rr-3", grid={"a": listed}, store=False)


def test_ctrl_c_stops_planning_at_once(interrupted):
    # A million points take minutes to plan.
    program = """
many = {"from": 1, "to": 1_000_000, "count": 1_000_000}
try:
    unruffled.sweep("rr-3", {"tcp.window": many}, ["sack"], 1, store=False, quiet=True)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    assert interrupted(program) == "stopped\n"


def test_progress_is_reported_and_drawn(capsys):
    done: list[int] = []
    from unruffled import _core

    _core.compare("rr-3", ["sack"], 3, "5 s", progress=done.append)
    assert done[-1] == 4
    unruffled.compare("rr-3", ["sack"], 3, "5 s", progress=True)
    assert "run" in capsys.readouterr().err
    unruffled.compare("rr-3", ["sack"], 3, "5 s")
    assert capsys.readouterr().err == "", "no bar where output is no terminal"


def test_an_exception_of_progress_ends_the_work():
    from unruffled import _core

    def refuse(done: int) -> None:
        raise LookupError(done)

    with pytest.raises(LookupError):
        _core.compare("rr-3", ["sack"], 4, "100 s", progress=refuse)


def test_traces_are_tables(tmp_path):
    found = unruffled.compare("rr-3", ["rr-ta", "rack"], 2, "20 s")
    quantities = {(row["variant"], row["quantity"]) for row in found.traces.to_pylist()}
    assert ("rr-ta", "cwnd_segments") in quantities
    assert ("rr-ta", "dupthresh_segments") in quantities
    assert ("rack", "patience_ms") in quantities
    assert ("rack", "dupthresh_segments") not in quantities
    times = found.traces["time_s"]
    assert 0 <= min(times) < max(times) <= 20
    assert set(found.sent["kind"]) <= {"new", "retransmit", "spurious-retransmit"}
    assert sum(found.reordering_lengths["events"]) > 0
    assert found.summary["variant"] == ["rr-ta", "rack"]
    mean = sum(row["goodput_bps"] for row in found.rows.to_pylist()[:2]) / 2
    assert found.summary["goodput_bps"][0] == pytest.approx(mean)
    assert found.summary["goodput_bps_ci95"][0] > 0
    single = unruffled.compare("rr-3", ["rr-ta"], seeds=1, duration="2 s")
    assert single.summary["goodput_bps_ci95"] == [None]
    report = tmp_path / "report.html"
    found.report(report)
    assert report.read_text().startswith("<!")
    assert "rr-ta" in repr(found)
