"""The metrics of ``unruffled status --openmetrics``, by the parser of Prometheus's own client."""

from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.parser import text_string_to_metric_families as older_format

# A test of the crate holds the command's text to this file.
EXAMPLE = (
    Path(__file__).parents[2] / "crates/cli/src/kernel/status/openmetrics/example.txt"
).read_text()


def test_the_example_is_openmetrics() -> None:
    families = {family.name: family for family in text_string_to_metric_families(EXAMPLE)}
    counters = {name for name, family in families.items() if family.type == "counter"}
    assert len(counters) == 7
    assert {family.type for family in families.values()} == {"counter", "gauge"}
    acked = families["unruffled_acknowledged_bytes"]
    assert acked.unit == "bytes"
    assert {(s.name, s.labels["registration"], s.value) for s in acked.samples} == {
        ("unruffled_acknowledged_bytes_total", "31", 106),
        ("unruffled_acknowledged_bytes_total", "90", 2**32 + 5),
    }
    names = {s.labels["namespace"] for s in families["unruffled_connections"].samples}
    assert names == {"net:[4026531840]", "net:[6]", 'a"b\\c'}


def test_a_truncated_text_is_recognised() -> None:
    with pytest.raises(ValueError, match="EOF"):
        list(text_string_to_metric_families(EXAMPLE.removesuffix("# EOF\n")))


def test_the_textfile_collector_can_read_it() -> None:
    """The older format has no ``# UNIT``, and no type of a counter whose name lacks ``_total``."""
    samples = [sample for family in older_format(EXAMPLE) for sample in family.samples]
    assert all(sample.timestamp is None for sample in samples)
    values = {(s.name, tuple(s.labels.values())): s.value for s in samples}
    assert values["unruffled_timeouts_total", ("31", "cubic")] == 104
    assert values["unruffled_daemon_running", ()] == 0
