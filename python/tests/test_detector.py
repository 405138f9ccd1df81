"""Detectors written in Python."""

from __future__ import annotations

import pytest
import unruffled


class Patient:
    """Detect losses with a threshold above the longest reordering so far."""

    def __init__(self):
        self.dupthresh = 3

    def rule(self, view):
        return unruffled.Rule(self.dupthresh)

    def on_reordering(self, sample, view):
        self.dupthresh = max(self.dupthresh, sample.length + 1)


class Three:
    """Detect losses as ``sack`` does, with a threshold of three."""

    def rule(self, view):
        return unruffled.Rule(3)


def numbers(table, variant):
    rows = [row for row in table.to_pylist() if row["variant"] == variant]
    return [{k: v for k, v in row.items() if k != "variant"} for row in rows]


def test_a_detector_in_python_gives_the_numbers_of_the_same_one_in_rust():
    found = unruffled.compare("rr-3", ["sack", unruffled.own("sack", Three)], 2, "20 s")
    assert numbers(found.rows, "sack+three") == numbers(found.rows, "sack")


def test_a_higher_threshold_avoids_spurious_retransmits():
    patient = unruffled.own("sack", Patient, "patient")
    found = unruffled.compare("rr-3", ["sack", patient], 1, "20 s").rows.to_pylist()
    assert [row["variant"] for row in found] == ["sack", "sack+patient"]
    assert found[1]["fast_retransmits"] < found[0]["fast_retransmits"] / 4
    assert found[1]["dupthresh_mean"] > 3


def test_every_method_is_called():
    called: dict[str, object] = {}

    class Recorder(Three):
        def on_ack(self, facts, view):
            called["on_ack"] = (facts.delivered, facts.sacked, facts.advanced, view.cwnd, view.una)

        def on_reordering(self, sample, view):
            called["on_reordering"] = (sample.length, sample.delay_s, view.srtt_s)

        def on_recovery(self, view):
            called["on_recovery"] = view.recovering

        def on_recovery_end(self, view):
            called["on_recovery_end"] = view.flight

        def on_spurious_fast_retransmit(self, found, view):
            called["on_spurious_fast_retransmit"] = (found.lasted_s, found.window)

    unruffled.compare("rr-3", [unruffled.own("dsack-r", Recorder)], 1, "20 s")
    assert len(called) == 5, called


def test_exceptions_of_a_detector_are_raised():
    class Broken:
        def rule(self, view):
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        unruffled.compare("rr-3", ["sack", unruffled.own("sack", Broken)], 1, "1000 s")


def test_invalid_detectors_are_refused():
    class NoRule:
        def rule(self, view):
            return 3

    with pytest.raises(unruffled.Error, match=r"rule\(\): expected an unruffled.Rule, found 3"):
        unruffled.compare("rr-3", [unruffled.own("sack", NoRule)], 1, "5 s")
    with pytest.raises(AttributeError, match="rule"):
        unruffled.compare("rr-3", [unruffled.own("sack", object)], 1, "5 s")
    with pytest.raises(unruffled.Error, match="expected no parts"):
        unruffled.compare("rr-3", [unruffled.own("tcp-pr", Three)], 1, "5 s")
    with pytest.raises(unruffled.Error, match="expected a name of small letters"):
        unruffled.compare("rr-3", [unruffled.own("sack", Three, "A b")], 1, "5 s")
    twice = [unruffled.own("sack", Three), unruffled.own("sack", NoRule, "three")]
    with pytest.raises(unruffled.Error, match=r"sack\+three stands twice: expected each once"):
        unruffled.compare("rr-3", twice, 1, "5 s")
    with pytest.raises(unruffled.Error, match=r"sack\+cubic stands twice: expected each once"):
        unruffled.compare("rr-3", ["sack+cubic", unruffled.own("sack", Three, "cubic")], 1, "5 s")
    with pytest.raises(
        unruffled.Error, match=r"^Rule: overdue_s: expected a number of 0 or more, found -1$"
    ):
        unruffled.Rule(overdue_s=-1.0)


def test_sweeps_run_a_detector_in_python_but_do_not_store_its_results(tmp_path):
    store = tmp_path / "runs.sqlite"
    call = dict(grid={"tcp.window": [20, 50]}, seeds=1, duration="5 s", store=store, quiet=True)
    found = unruffled.sweep("rr-3", variants=["sack", unruffled.own("sack", Patient)], **call)
    assert sorted(set(found.rows["variant"])) == ["sack", "sack+patient"]
    from unruffled import _core

    again = _core.plan(
        _core.grid(
            {"grid": call["grid"]}, "rr-3", {"variants": "sack", "seeds": 1, "duration": "5 s"}
        ),
        None,
        [unruffled.own("sack", Patient)],
        store,
    )
    assert (again.runs, again.missing) == (4, 2), "results of detectors in Python are not stored"
