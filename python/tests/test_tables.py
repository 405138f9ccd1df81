"""Tables can be read by polars, DuckDB and pandas, and without any of them."""

from __future__ import annotations

import pytest
import unruffled


@pytest.fixture(scope="module")
def found() -> unruffled.Comparison:
    return unruffled.compare("rr-3", ["sack", "rack"], 2, "5 s")


def test_polars_reads_results_and_tables(found):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(found)
    assert frame.equals(found.rows.to_polars())
    assert frame.columns == found.rows.column_names
    assert frame["goodput_bps"].to_list() == found.rows["goodput_bps"]
    assert frame["dupthresh_mean"].null_count() == 2, "RACK has no threshold"
    assert frame["seed"].dtype == polars.UInt64
    assert polars.DataFrame(found.traces).height == len(found.traces)


def test_duckdb_reads_tables(found):
    duckdb = pytest.importorskip("duckdb")
    rows = found.rows
    mean = duckdb.sql(
        "SELECT variant, avg(goodput_bps) FROM rows GROUP BY variant ORDER BY variant"
    )
    assert [variant for variant, _ in mean.fetchall()] == ["rack", "sack"]
    assert len(rows) == 4


def test_pandas_reads_tables(found):
    pandas = pytest.importorskip("pandas")
    frame = found.rows.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["goodput_bps"].tolist() == found.rows["goodput_bps"]
    assert frame.groupby("variant")["seed"].count().tolist() == [2, 2]


def test_tables_can_be_read_without_other_packages(found):
    rows = found.rows.to_pylist()
    assert rows[0]["variant"] == "sack"
    assert found.rows.to_pydict()["seed"] == [1, 2, 1, 2]
    assert len(found.rows) == found.rows.num_rows == len(found) == 4
    with pytest.raises(KeyError):
        found.rows["speed"]
    assert "4 rows of scenario" in repr(found.rows)


def test_a_table_can_be_exported_twice_and_outlives_its_source():
    polars = pytest.importorskip("polars")
    rows = unruffled.compare("rr-3", ["sack"], 1, "5 s").rows
    one, two = polars.DataFrame(rows), polars.DataFrame(rows)
    del rows
    assert one.equals(two)


def test_empty_tables_of_flows_and_links_have_the_same_columns(found):
    several = {
        "variants": ["sack"],
        "duration": "2 s",
        "path": {"hops": ["bottleneck"]},
        "link": {"bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms"}},
        "traffic": [{"name": "one"}, {"name": "other"}],
    }
    counted = unruffled.compare(several, ["sack"], 1)
    for one, full in [(found.flows, counted.flows), (found.links, counted.links)]:
        assert len(one) == 0 < len(full)
        assert one.to_pylist() == []
        assert one.column_names == full.column_names


def test_empty_frames_have_the_types_of_columns(found):
    polars = pytest.importorskip("polars")
    flows = polars.DataFrame(found.flows)
    assert flows.height == 0
    assert flows["seed"].dtype == polars.UInt64
    assert flows["goodput_bps"].dtype == polars.Float64
    assert flows["group"].dtype == polars.String
