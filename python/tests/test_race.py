"""``race``, where privileges allow; its errors, everywhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import unruffled
from conftest import in_python

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="races need Linux")


def is_privileged() -> bool:
    ran = subprocess.run(
        ["unshare", "--net", "--pid", "--fork", "true"], capture_output=True, check=False
    )
    return ran.returncode == 0 and Path("/dev/net/tun").exists()


def test_a_race_with_real_packets_gives_rows():
    if not is_privileged():
        pytest.skip("no privileges to create network namespaces")
    found = unruffled.race("in-order", kernel=["reno"], variants=["sack"], bytes="300 kB")
    assert found.rows["variant"] == ["kernel-reno", "sack"]
    assert all(goodput > 0 for goodput in found.rows["goodput_bps"])
    assert found.notes[0].startswith("2 transfers")
    found = unruffled.race("in-order", kernel="none", variants="sack,rr-ta", bytes="10 kB")
    assert found.rows["variant"] == ["sack", "rr-ta"]


DRIVER = """\
read request; echo '{"protocol": 1}'; octets=0
while read verb until ids; do
case $verb in end) echo '{"received": 1200, "sent": 1, "lost": 0}'; exit;; esac
[ -n "$ids" ] && octets=1200
case $sent in '') sent=1; echo at 0 0 c1250;; *) echo at $until $octets;; esac
done
"""


def test_a_foreign_stack_races_alone_and_needs_no_privileges(tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    (own / "driver.sh").write_text(DRIVER)
    (own / "stack.toml").write_text(
        "name = 'own'\nversion = 'own 1.0'\nabout = 'one packet'\ntime = 'virtual'\n"
        "controls = ['none']\ncommand = ['sh', 'driver.sh']\n"
    )
    found = unruffled.race("in-order", stack="own", stacks=tmp_path, duration="1 s")
    assert found.rows["variant"] == ["own"]
    assert found.rows["goodput_bps"] == [9600.0]
    assert found.rows["sent_segments"] == [1]


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ({"kernel": ["nix"]}, ["half-late", "--kernel", "nix"]),
        ({"kernel": [], "variants": []}, ["half-late", "--kernel", "none", "--variants", "none"]),
        ({"together": True}, ["half-late", "--together"]),
        ({"variants": ["nix"]}, ["half-late", "--variants", "nix"]),
        ({"kernel": "reno, nix"}, ["half-late", "--kernel", "reno, nix"]),
        ({"variants": "sack, nix"}, ["half-late", "--variants", "sack, nix"]),
        ({"set": {"tcp.mss": "40 B"}}, ["half-late", "--set", "tcp.mss=40 B"]),
        ({"set": {"duration": "2 s"}}, ["half-late", "--set", "duration=2 s"]),
        (
            {"stack": "nix", "stacks": "/nowhere"},
            ["half-late", "--stack", "nix", "--stacks", "/nowhere"],
        ),
        (
            {"set": {"variants": "sack"}, "variants": ["rack"]},
            ["half-late", "--set", "variants=sack", "--variants", "rack"],
        ),
    ],
)
def test_errors_are_exceptions_with_the_message_of_the_command(command, call, arguments):
    refused = command("race", *arguments, "--no-report")
    assert refused.returncode == 2
    with pytest.raises(unruffled.Error) as raised:
        unruffled.race(**call)
    assert str(raised.value) == in_python(refused.stderr)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ({"kernel": 5}, "kernel: expected names, found int"),
        ({"variants": [unruffled.own("sack", object)]}, "variants: expected names, found Own"),
        ({"seeds": -1}, "seeds: expected a whole number from 1 to 1000, found -1"),
        ({"seeds": 10**6}, "seeds: expected a whole number from 1 to 1000, found 1000000"),
        ({"seeds": 1.5}, "seeds: expected a whole number from 1 to 1000, found float"),
        ({"set": 5}, "set: expected a dictionary of keys and values, found int"),
        ({"bytes": "1 MB", "duration": "1 s"}, "duration and bytes: expected only one of them"),
        ({"reverse": True, "variants": "sack"}, "reverse and variants: expected only one of them"),
    ],
)
def test_invalid_arguments_are_named(call, expected):
    with pytest.raises(unruffled.Error, match=expected):
        unruffled.race(**call)
