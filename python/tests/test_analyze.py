"""``analyze`` gives the same results as the command."""

from __future__ import annotations

import json

import pytest
import unruffled


@pytest.fixture(scope="module")
def capture(command, tmp_path_factory):
    file = tmp_path_factory.mktemp("capture") / "late.pcapng"
    arguments = ["few-late", "--variants", "rack+cubic", "--seeds", "1", "--duration", "10 s"]
    ran = command("compare", *arguments, "--no-report", "--pcap", str(file))
    assert ran.returncode == 0, ran.stderr
    return file


def test_an_analysis_is_that_of_the_command(command, capture, tmp_path):
    theirs = command("analyze", str(capture), "--json")
    assert theirs.returncode == 0, theirs.stderr
    found = unruffled.analyze(capture)
    assert found.to_json() == theirs.stdout
    expected = json.loads(theirs.stdout)
    first = found.transfers.to_pylist()[0]
    assert first["cause"] == expected["verdicts"][0]["cause"] == "reordering"
    assert first["cost_share"] == expected["verdicts"][0]["cost"]["share"]
    cost = expected["verdicts"][0]["cost"]
    assert first["cost_resequenced_bps"] == cost["resequenced_bps"] > 0
    assert first["goodput_bps"] == expected["connections"][0]["directions"][0]["goodput_bps"]
    assert "reordering" in repr(found).lower()
    page = tmp_path / "page.html"
    found.report(page)
    assert page.stat().st_size > 1000

    # From a capture to a recommendation: the sender with the best goodput over its path.
    path = found.scenario()
    compared = unruffled.compare(path, ["rack+cubic", "unruffled"], seeds=1, duration="10 s")
    goodput = dict(zip(compared.rows["variant"], compared.rows["goodput_bps"], strict=True))
    assert goodput["unruffled"] > goodput["rack+cubic"]
    with pytest.raises(unruffled.Error, match="no transfer 9: it has"):
        found.scenario(9)


def test_a_file_that_is_no_capture_is_refused_with_the_message_of_the_command(command, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("no capture at all, but long enough to be one")
    for file in (text, tmp_path / "nowhere"):
        theirs = command("analyze", str(file))
        with pytest.raises(unruffled.Error) as refused:
            unruffled.analyze(file)
        assert f"unruffled: {refused.value}\n" == theirs.stderr


def test_a_record_is_that_of_the_command(capture, tmp_path):
    file = tmp_path / "late.pcapng"
    unruffled.record(file, "few-late", "rack+cubic", duration="10 s")
    assert file.read_bytes() == capture.read_bytes()
    for seed, found in [(-1, "-1"), (1.5, "float"), (2**64, "int")]:
        with pytest.raises(unruffled.Error, match=f"seed: expected a whole number .* {found}$"):
            unruffled.record(file, seed=seed)


def test_an_existing_file_stays_unless_a_whole_one_replaces_it(capture, interrupted, tmp_path):
    mine = tmp_path / "mine.toml"
    text = unruffled.scenario("rr-3").toml
    mine.write_text(text)
    with pytest.raises(unruffled.Error, match=r"mine\.toml: would replace the scenario"):
        unruffled.record(mine, mine, "sack", duration="1 s")
    assert mine.read_text() == text
    with pytest.raises(unruffled.Error, match="would replace the capture"):
        unruffled.analyze(capture).report(capture)
    # A record that is interrupted leaves the previous file as it was.
    file = tmp_path / "late.pcapng"
    file.write_text("the previous file")
    program = f"""
try:
    unruffled.record({str(file)!r}, "rr-3", duration="1000000 s")
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    assert interrupted(program) == "stopped\n"
    assert file.read_text() == "the previous file"
    assert list(tmp_path.glob("late*")) == [file], "no temporary file is left"
