"""Equality, hashes, iteration and pickles of the package's values."""

from __future__ import annotations

import copy
import inspect
import multiprocessing
import pickle
import random

import pytest
import unruffled

FACTS = {
    unruffled.View: dict(now_s=1.5, cwnd=10.25, srtt_s=0.1, flight=7, una=2**40, recovering=True),
    unruffled.AckFacts: dict(delivered=3, advanced=True, latest_sent_s=0.25),
    unruffled.Reordering: dict(length=12, delay_s=0.03, by_dsack=True),
    unruffled.SpuriousFastRetransmit: dict(lasted_s=0.2, window=20.5, length=4),
    unruffled.Rule: dict(dupthresh=5, overdue_s=0.5, eager=True),
}


class Three:
    """Detect losses as ``sack`` does; at the top of a module, so that pickle finds it."""

    def rule(self, view):
        return unruffled.Rule(3)


SEVERAL = {
    "name": "several",
    "duration": "1 s",
    "seeds": 2,
    "variants": ["sack", "rack"],
    "path": {"hops": ["l"]},
    "link": {"l": {"rate": "5 Mbit/s", "delay": "10 ms", "queue": 30, "loss": {"fraction": 0.01}}},
    "traffic": [{"name": "ours", "count": 2}, {"name": "beside", "sender": "reno"}],
}
GRID = {"delayed.fraction": ["1 %", "10 %"], "tcp.window": {"from": 20, "to": 40, "step": 20}}


def swept(**more):
    call = dict(variants=["sack", "rack"], seeds=2, duration="1 s", store=False, quiet=True)
    return unruffled.sweep("rr-3", GRID, **call | more)


@pytest.fixture(scope="module")
def values():
    compared = unruffled.compare("rr-3", ["sack", "rr-ta", "rack"], 2, "5 s")
    latin = {"method": "latin", "points": 5, "keys": {"delayed.mean": {"from": 1, "to": 5}}}
    random = {**latin, "method": "random", "keys": {"delayed.mean": {"from": "1 ms", "to": "9 ms"}}}
    return {
        "comparison": compared,
        "flows": unruffled.compare(SEVERAL),
        "one run": unruffled.compare("rr-3", ["rack"], 1, "1 s"),
        "sweep": swept(),
        "sample": swept(sample=random),
        "own": swept(variants=["sack", unruffled.own("sack", Three)]),
        "table": compared.rows,
        "no rows": compared.flows,
        "traces": compared.traces,
        "texts": unruffled.sweep(
            "rr-3",
            {"delayed.packets": ["data", "both"]},
            ["sack"],
            1,
            "1 s",
            store=False,
            quiet=True,
        ).rows,
        "scenario": unruffled.scenario("rr-3", set={"delayed.fraction": "30 %"}),
        "dictionary": unruffled.scenario(SEVERAL),
        "senders": unruffled.variants(),
        "own sender": unruffled.own("sack", Three),
        "error": unruffled.Error("seeds: expected one"),
        **{kind.__name__: kind(**fields) for kind, fields in FACTS.items()},
    }


NAMES = [
    "comparison",
    "flows",
    "one run",
    "sweep",
    "sample",
    "own",
    "table",
    "no rows",
    "traces",
    "texts",
    "scenario",
    "dictionary",
    "senders",
    "own sender",
    *(kind.__name__ for kind in FACTS),
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_an_unpickled_value_is_equal_and_prints_the_same(values, name, protocol):
    value = values[name]
    again = pickle.loads(pickle.dumps(value, protocol))
    assert type(again) is type(value)
    assert again == value
    assert repr(again) == repr(value)
    assert copy.deepcopy(value) == value == copy.copy(value)
    for member, _ in inspect.getmembers(type(value), inspect.isdatadescriptor):
        if not member.startswith("_"):
            assert getattr(again, member) == getattr(value, member), member
    for method in ("to_json", "to_csv", "_repr_html_"):
        if hasattr(value, method):
            assert getattr(again, method)() == getattr(value, method)()


def repr_and_pickle(value):
    return repr(value), pickle.dumps(value)


def test_values_can_be_sent_to_other_processes(values):
    # Spawned, so that nothing is inherited.
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        sent = [values[name] for name in NAMES]
        for value, (printed, octets) in zip(sent, pool.map(repr_and_pickle, sent), strict=True):
            assert printed == repr(value)
            assert pickle.loads(octets) == value


def test_an_unpickled_result_has_the_same_report(values, tmp_path):
    for name in ("comparison", "flows"):
        value = values[name]
        value.report(tmp_path / "one.html")
        pickle.loads(pickle.dumps(value)).report(tmp_path / "other.html")
        assert (tmp_path / "one.html").read_bytes() == (tmp_path / "other.html").read_bytes()


def test_an_analysis_is_not_pickled_but_its_tables_are(tmp_path):
    file = tmp_path / "one.pcapng"
    unruffled.record(file, "few-late", duration="2 s")
    found = unruffled.analyze(file)
    with pytest.raises(TypeError, match=r"Analysis cannot be pickled: pickle its transfers"):
        pickle.dumps(found)
    assert pickle.loads(pickle.dumps(found.transfers)) == found.transfers
    assert found == unruffled.analyze(file)
    with pytest.raises(unruffled.Error, match=r"Table: pickled by another version"):
        unruffled._core.restore("Table", b"nonsense")


def test_different_values_are_not_equal(values):
    for name in NAMES:
        assert values[name] != 5
        assert values[name] != None  # noqa: E711
    assert values["comparison"] != unruffled.compare("rr-3", ["sack", "rr-ta", "rack"], 2, "4 s")
    assert values["sweep"] != swept(seeds=1)
    assert values["scenario"] != unruffled.scenario("rr-3")
    assert values["table"] != values["table"][:3]
    assert values["table"] == unruffled.compare("rr-3", ["sack", "rr-ta", "rack"], 2, "5 s").rows
    for kind, fields in FACTS.items():
        assert kind(**fields) != kind()


def test_equal_values_have_equal_hashes(values):
    scenarios = {unruffled.scenario("rr-3"), unruffled.scenario("rr-3"), values["scenario"]}
    assert len(scenarios) == 2
    for kind, fields in FACTS.items():
        assert len({kind(**fields), kind(**fields), kind()}) == 2
    assert hash(unruffled.View(cwnd=0.0)) == hash(unruffled.View(cwnd=-0.0))
    for name in ("comparison", "sweep", "table"):
        with pytest.raises(TypeError, match="unhashable"):
            hash(values[name])


def test_the_repr_of_facts_evaluates_to_an_equal_value():
    for kind, fields in FACTS.items():
        value = kind(**fields)
        assert eval(repr(value), vars(unruffled)) == value
        for field, expected in fields.items():
            assert getattr(value, field) == expected
            with pytest.raises(AttributeError):
                setattr(value, field, expected)
    assert repr(unruffled.Rule(3)).startswith("Rule(dupthresh=3, ")


@pytest.mark.parametrize("name", ["comparison", "sweep", "table", "traces", "no rows", "texts"])
def test_results_are_sequences_of_rows_with_columns_by_name(values, name):
    table = values[name]
    rows = list(table)
    assert rows == table.to_pylist()
    assert len(rows) == len(table) == table.num_rows
    assert all(list(row) == table.column_names for row in rows)
    assert table.to_pydict() == {name: table[name] for name in table.column_names}
    for column in table.column_names:
        assert column in table
        assert table[column] == [row[column] for row in rows]
    assert "speed" not in table
    generator = random.Random(7)
    for _ in range(50):
        cut = slice(
            *(generator.choice([None, *range(-9, 10)]) for _ in range(2)),
            generator.choice([1, 2, -1, -3]),
        )
        part = table[cut]
        assert isinstance(part, unruffled.Table)
        assert part.to_pylist() == rows[cut]
        assert part.column_names == table.column_names
    for at in range(-len(rows), min(len(rows), 5)):
        assert table[at] == rows[at]
        assert rows[at] in table
    for wrong in (len(rows), -len(rows) - 1, 10**30):
        with pytest.raises((IndexError, TypeError)):
            table[wrong]
    with pytest.raises(KeyError, match="speed"):
        table["speed"]
    with pytest.raises(TypeError, match="expected a column's name, a row's number"):
        table[1.5]


def test_pandas_and_polars_read_results(values):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    for name in ("comparison", "sweep", "table", "traces", "no rows", "texts"):
        found = values[name]
        frame = found.to_pandas()
        assert list(frame.columns) == found.column_names
        for column in found.column_names:
            expected = found[column]
            if len(found):
                cells = frame[column].tolist()
                assert [None if pandas.isna(cell) else cell for cell in cells] == expected
        kinds = polars.DataFrame(found).schema
        for column, kind in kinds.items():
            if kind == polars.UInt64:
                assert frame[column].dtype == "uint64"
            if kind == polars.Float64:
                assert frame[column].dtype == "float64"
        assert found.to_polars().equals(polars.DataFrame(found))
        assert pandas.DataFrame(found).to_dict("list").keys() <= set(found.column_names)
    frame = values["comparison"].to_pandas()
    assert frame.groupby("variant")["goodput_bps"].mean().idxmax() in ("rr-ta", "rack")


def test_polars_reads_numbers_without_a_copy(values):
    polars = pytest.importorskip("polars")
    rows = values["traces"]
    one, two = polars.DataFrame(rows), polars.DataFrame(rows)
    numbers = [frame["value"].to_numpy(allow_copy=False) for frame in (one, two)]
    pointers = [array.__array_interface__["data"][0] for array in numbers]
    assert pointers[0] == pointers[1], "both read the same memory"


def test_values_of_detectors_can_be_constructed():
    rule = Three().rule(unruffled.View(cwnd=20, flight=10))
    assert rule == unruffled.Rule(dupthresh=3)
    numpy = pytest.importorskip("numpy")
    assert unruffled.Rule(numpy.int64(4), overdue_s=numpy.float64(0.5)).dupthresh == 4
    assert unruffled.View(recovering=numpy.bool_(True)).recovering is True


@pytest.mark.parametrize("kind", FACTS)
@pytest.mark.parametrize("given", [-1, 2**70, "3", b"3", 1.5, float("nan"), [], 1j, object()])
def test_an_invalid_field_is_named(kind, given):
    for field in inspect.signature(kind).parameters:
        try:
            made = getattr(kind(**{field: given}), field)
        except unruffled.Error as error:
            assert str(error).startswith(f"{kind.__name__}: {field}: expected "), error
        else:
            assert made == given
            assert not isinstance(given, str)
