"""Errors are one line, which names the argument of Python and not the flag of the command."""

from __future__ import annotations

import decimal
import fractions
import inspect
import pathlib
import re
import sys

import pytest
import unruffled

FLAG = re.compile(r"(^|[\s(`'\"])--?[a-z]")

SHORT = dict(variants=["sack"], seeds=1, duration="1 s")
QUIET = dict(store=False, quiet=True, progress=False)

TRAFFIC = {
    "variants": ["sack"],
    "duration": "1 s",
    "path": {"hops": ["l"]},
    "link": {"l": {"rate": "5 Mbit/s", "delay": "10 ms"}},
    "traffic": [{"name": "a"}, {"name": "b"}],
}


def one_line(error: BaseException) -> str:
    line = str(error)
    assert line
    assert "\n" not in line
    assert not FLAG.search(line), line
    return line


def compare(**call):
    return unruffled.compare(**{"scenario": "rr-3", **SHORT, **call})


def sweep(**call):
    return unruffled.sweep(**{"scenario": "rr-3", "grid": {}, **SHORT, **QUIET, **call})


def race(**call):
    # No kernel has this algorithm, so that valid arguments are refused before a race begins.
    return unruffled.race(**{"kernel": ["nix"], "progress": False, **call})


REFUSED = [
    # Keys that are set.
    (compare, {"set": {"tcp.windw": 3}}, "set: tcp.windw: unknown key"),
    (
        compare,
        {"set": {"delayed.fraction": "200 %"}},
        "set: link.bottleneck.delayed.fraction: expe",
    ),
    (compare, {"set": {"rate": "1 Mbit/s"}}, "set: rate: "),
    (compare, {"set": {"loss.from": 0}}, "set: loss.from: "),
    (compare, {"set": {"": 1}}, "set: expected a dotted key, such as link.bottleneck.rate, found"),
    (compare, {"set": {"a=b": 1}}, 'found "a=b"'),
    (compare, {"set": {"tcp.window": " "}}, 'set: tcp.window: expected a value, found " "'),
    (compare, {"set": {"tcp.window": "1\n2"}}, "tcp.window: "),
    (compare, {"set": {"tcp.window": "\udcff"}}, "tcp.window: expected text that UTF-8 can hold"),
    (compare, {"set": {"\udcff": 1}}, "set: expected text that UTF-8 can hold"),
    (compare, {"set": {"tcp.window": None}}, "tcp.window: expected a string, number, boolean"),
    (compare, {"set": {"tcp.window": b"3"}}, "tcp.window: expected a string, number, boolean"),
    (compare, {"set": {"window": 20, "tcp.window": 30}}, "set: tcp.window: stands twice"),
    (compare, {"set": {"seeds": 2}}, "set: seeds: expected this or seeds, not both"),
    (compare, {"set": {"duration": "2 s"}}, "set: duration: expected this or duration, not both"),
    (compare, {"set": {"variants": "rack"}}, "set: variants: expected this or variants, not both"),
    (compare, {"set": {"variants": "bbr3"}, "variants": None}, "set: variants: bbr3: no such"),
    (compare, {"set": {"warmup": "2000 s"}}, "set: warmup: expected less than"),
    (compare, {"set": {"name": "a\x07b"}}, "set: name: expected no control characters"),
    (compare, {"set": {"path.hops": "nowhere"}}, "set: path.hops: no table"),
    # Arguments that set keys.
    (compare, {"seeds": 0}, "seeds: expected a whole number from 1"),
    (compare, {"seeds": -3}, "seeds: expected a whole number from 1"),
    (compare, {"duration": "x"}, "duration: expected a time"),
    (compare, {"duration": ""}, "duration: expected a value"),
    (compare, {"duration": "0 s"}, "duration: expected"),
    (compare, {"variants": ["bbr3"]}, "variants: bbr3: no such variant"),
    (compare, {"variants": ""}, "variants: "),
    (compare, {"variants": ["sack", "sack"]}, "variants: sack stands twice: expected each once"),
    (compare, {"variants": ["tcp-pr+cubic"]}, "variants: "),
    (compare, {"variants": [unruffled.own("nix", object)]}, "variants: nix: no such variant"),
    (
        compare,
        {"variants": [unruffled.own("sack", object, "x")] * 2},
        "variants: sack+x stands twi",
    ),
    (compare, {"variants": {"sack": 1}}, "variants: expected names of senders, or unruffled.own"),
    # Scenarios.
    (compare, {"scenario": "nix"}, "nix: no such scenario"),
    (compare, {"scenario": "/"}, "/: cannot be read"),
    (compare, {"scenario": "/dev/zero"}, "/dev/zero: cannot be read"),
    (compare, {"scenario": "\udcff"}, "no such scenario"),
    (compare, {"scenario": "a\0b"}, "a b: "),
    (compare, {"scenario": {}}, "scenario: variants: missing: expected"),
    (compare, {"scenario": "./nix.toml"}, "./nix.toml: no such file"),
    (compare, {"scenario": {"link": 3}}, "scenario"),
    (
        compare,
        {"scenario": {**TRAFFIC, "traffic": [{"name": "a", "sender": "reno"}]}},
        "nothing is",
    ),
    (unruffled.scenario, {"path_or_dict": None}, "path_or_dict: expected a name, a file"),
    (unruffled.variants, {"name": "nix"}, "nix: no such variant"),
    (unruffled.variants, {"name": 5}, "name: expected a sender's name, found int"),
    (unruffled.variants, {"name": "\udcff"}, "name: expected text that UTF-8 can hold"),
    (unruffled.save_scenario, {"name": "nix"}, "nix: no such scenario"),
    (unruffled.save_scenario, {"name": None}, "name: expected a scenario's name, found None"),
    (unruffled.save_scenario, {"name": ""}, "name: expected a scenario's name, found nothing"),
    (unruffled.save_scenario, {"name": "rr-3", "path": "/"}, "/: there already: expected another"),
    (unruffled.save_scenario, {"name": "rr-3", "path": ""}, "path: expected a file's path, found"),
    (unruffled.save_scenario, {"name": "rr-3", "force": 1}, "force: expected True or False, fou"),
    # Sweeps.
    (sweep, {"scenario": None}, "sweep: expected a scenario, or a grid file that names one"),
    (sweep, {"grid": {"tcp.windw": [3]}}, "grid.tcp.windw: unknown key"),
    (sweep, {"grid": {"tcp.window": 3}}, "grid.tcp.window: expected a list"),
    (
        sweep,
        {"grid": {"seeds": [1, 2]}},
        "grid.seeds: not for sweeps: expected seeds beside scenario",
    ),
    (sweep, {"grid": {"duration": ["1 s"]}}, "duration: expected a key that is not swept"),
    (
        sweep,
        {"grid": {"tcp.window": [20]}, "set": {"tcp.window": 30}},
        "set: tcp.window: expected a key that is not swept",
    ),
    (sweep, {"set": {"tcp.window": 20, "window": 30}}, "set: "),
    (sweep, {"set": {"seeds": 3}}, "set: seeds: expected this or seeds, not both"),
    (sweep, {"seeds": 0}, "seeds: expected a whole number from 1"),
    (sweep, {"duration": "never"}, "duration: expected a time"),
    (sweep, {"variants": ["nix"]}, "variants: nix: no such variant"),
    (sweep, {"variants": ["sack", "sack"]}, "variants: sack stands twice"),
    (
        sweep,
        {"variants": [unruffled.own("sack", object)]},
        "variants: expected at least one sender",
    ),
    (sweep, {"grid": "/nowhere.toml"}, "/nowhere.toml: no such file"),
    (sweep, {"grid": "/"}, "/: cannot be read"),
    (sweep, {"grid": b"grid.toml"}, "grid: expected a dictionary or a file, found bytes"),
    (sweep, {"store": "/proc/nowhere/runs.sqlite"}, "/proc/nowhere/runs.sqlite: "),
    (sweep, {"store": __file__}, "test_errors.py: not a store of runs: expected another file"),
    (sweep, {"client": 5}, "client: expected a dask.distributed.Client, found int"),
    # Files.
    (unruffled.analyze, {"capture": 5}, "capture: expected a file's path, found int"),
    (unruffled.analyze, {"capture": __file__}, "test_errors.py: "),
    (unruffled.analyze, {"capture": "/"}, "/: "),
    (unruffled.record, {"path": 5}, "path: expected a file's path, found int"),
    (unruffled.record, {"path": "/nowhere/x", "duration": "1 s"}, "/nowhere/x: cannot be written"),
    (unruffled.record, {"path": "/dev/null", "variant": "nix"}, "variants: nix: no such variant"),
    # Detectors.
    (unruffled.own, {"base": 5, "detector": object}, "base: expected a name, found int"),
    (unruffled.own, {"base": "sack", "detector": 5}, "detector: expected a class, or a function"),
    (unruffled.own, {"base": "sack", "detector": object, "name": 5}, "name: expected a name, fou"),
]

RACES = [
    ({}, "kernel nix: not in this kernel: expected names among"),
    ({"kernel": ["cubic", "cubic"]}, "kernel: cubic stands twice: expected each once"),
    (
        {"kernel": [], "variants": []},
        "race: no sender takes part: expected kernel, variants or stack",
    ),
    ({"kernel": [], "stack": "nix"}, "stack nix: no driver in target/stacks"),
    ({"kernel": [], "stack": "nix", "reverse": True}, "stack: a foreign stack sends alone"),
    ({"kernel": [], "stack": 5}, "stack: expected names, found int"),
    ({"kernel": [], "stack": "nix", "stacks": 5}, "stacks: expected a file's path, found int"),
    ({"together": True, "kernel": []}, "together: expected variants, too"),
    ({"kernel": [], "variants": ["nix"]}, "variants: nix: no such variant"),
    ({"set": {"duration": "2 s"}}, "set: duration: not taken by a race: expected duration 2 s"),
    ({"set": {"seeds": 2}}, "set: seeds: not taken by a race: expected seeds 2"),
    ({"set": {"warmup": "1 s"}}, "set: warmup: not taken by a race"),
    (
        {"set": {"variants": "sack"}, "variants": ["rack"]},
        "set: variants: expected this or variants",
    ),
    ({"set": {"tcp.mss": "40 B"}}, "tcp.mss: expected at least"),
    ({"scenario": {**TRAFFIC}, "kernel": [], "variants": "sack"}, "expected together beside it"),
    ({"duration": "never"}, "duration: expected a time"),
    ({"duration": "0 s"}, "race: expected more than none of duration, bytes and seeds"),
    ({"bytes": "many"}, "bytes: "),
    ({"bytes": 5}, 'bytes: expected an amount, such as "33 MB", found int'),
    ({"kernel": b"cubic"}, "kernel: expected names, found bytes"),
    ({"together": "yes"}, "together: expected True or False, found str"),
]


@pytest.mark.parametrize(("run", "call", "expected"), REFUSED)
def test_an_error_names_the_argument_and_no_flag(run, call, expected):
    with pytest.raises(unruffled.Error) as raised:
        run(**call)
    assert expected in one_line(raised.value)


@pytest.mark.skipif(sys.platform != "linux", reason="races need Linux")
@pytest.mark.parametrize(("call", "expected"), RACES)
def test_an_error_of_a_race_names_the_argument_and_no_flag(call, expected):
    with pytest.raises(unruffled.Error) as raised:
        race(**call)
    assert expected in one_line(raised.value)


def test_an_error_of_an_analysis_names_no_flag(tmp_path):
    file = tmp_path / "short.pcapng"
    unruffled.record(file, "in-order", duration="1 s", set={"bottleneck.rate": "1 Mbit/s"})
    found = unruffled.analyze(file)
    for transfer in (0, -1, 9, 2**40, "1", 1.5, None.__class__):
        with pytest.raises(unruffled.Error, match="transfer") as raised:
            found.scenario(transfer)
        one_line(raised.value)
    with pytest.raises(unruffled.Error) as raised:
        found.scenario(1, "nix")
    assert "nix" in one_line(raised.value)
    with pytest.raises(unruffled.Error, match="path: expected a file's path, found int"):
        found.report(5)
    # Limited by the window, the transfer never fills its path.
    idle = tmp_path / "idle.pcapng"
    unruffled.record(idle, "in-order", duration="20 s", set={"tcp.window": 2})
    try:
        unruffled.analyze(idle).scenario()
    except unruffled.Error as error:
        assert "set={" in one_line(error)


@pytest.mark.parametrize("word", ["see --set", "--sets", "--set=3", "a--set", "x --variantss y"])
def test_given_values_are_quoted_unchanged(word):
    with pytest.raises(unruffled.Error) as raised:
        unruffled.scenario("rr-3", set={"duration": word})
    assert word in str(raised.value) or word.replace("--set", "set") in str(raised.value)


INVALID = [
    object(),
    b"x",
    1j,
    float("nan"),
    -1,
    2**70,
    [],
    {},
    (),
    "",
    " ",
    "nix",
    "\udcff",
    True,
    0,
    decimal.Decimal("NaN"),
    fractions.Fraction(1, 3),
    pathlib.Path("/nowhere/x"),
    [object()],
    {1: 2},
    range(3),
    print,
    unruffled.Rule(3),
    unruffled.own("sack", object),
]
# The other arguments of a call with one invalid argument.
CALLS = {
    unruffled.compare: {"scenario": "rr-3", **SHORT},
    unruffled.sweep: {"scenario": "rr-3", "grid": {}, **SHORT, **QUIET},
    # Neither name exists, so that no race begins if one of them is replaced by a valid name.
    unruffled.race: {"kernel": ["nix"], "variants": ["nix"], "progress": False},
    unruffled.record: {"path": "/dev/null", "duration": "1 s"},
    unruffled.analyze: {"capture": "/dev/null", "progress": False},
    unruffled.scenario: {"path_or_dict": "rr-3"},
    unruffled.variants: {},
    unruffled.save_scenario: {"name": "rr-3", "force": True},
    unruffled.own: {"base": "sack", "detector": object},
}
# How messages may name an argument: itself, the file, a key of the grid, or the sender.
NAMED_AS = {
    "capture": "capture|/dev/null|nix|x|^[ �]: cannot be read",
    "scenario": "scenario|nix|/nowhere/x",
    "path_or_dict": "path_or_dict|scenario|nix|/nowhere/x",
    "store": "store|/nowhere/x|nix| : |^: ",
    "path": "path|cannot be written",
    "variant": "variant",
    "grid": "grid|sweep|nix|/nowhere|^[ �]: no such file",
    "name": "name|nix|no such|variant",
    "sample": "sample",
    "jobs": "jobs",
}


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
@pytest.mark.parametrize(
    "invalid", INVALID, ids=lambda invalid: f"{type(invalid).__name__}-{str(invalid)[:9]}"
)
def test_every_argument_is_accepted_or_named_in_an_error(function, invalid, tmp_path, monkeypatch):
    if function is unruffled.race and sys.platform != "linux":
        pytest.skip("races need Linux")
    monkeypatch.chdir(tmp_path)
    for argument in inspect.signature(function).parameters:
        if argument in ("progress", "quiet"):
            continue
        if isinstance(invalid, str) and argument in ("path", "store") and invalid:
            continue
        try:
            function(**{**CALLS[function], argument: invalid})
        except unruffled.Error as error:
            line = one_line(error)
            named = NAMED_AS.get(argument, argument)
            if function is unruffled.race:
                named += "|nix|race:"
            if invalid == {1: 2} or invalid == [object()]:
                named += "|keys"
            assert re.search(named, line), (argument, line)
