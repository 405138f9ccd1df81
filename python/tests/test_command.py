"""The command that the package installs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import unruffled
from conftest import Command

INSTALLED = Path(sys.executable).with_name("unruffled")
SHORT = ["compare", "rr-3", "--seeds", "1", "--duration", "2 s", "--variants", "sack"]

pytestmark = pytest.mark.skipif(not INSTALLED.exists(), reason="needs the installed package")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command."""
    return subprocess.run([INSTALLED, *arguments], capture_output=True, text=True, check=False)


def test_it_is_the_command(command: Command):
    assert run("--version").stdout == f"unruffled {unruffled.__version__}\n"
    for arguments in (["variants"], ["--help"], [*SHORT, "--no-report", "--csv"]):
        ours = run(*arguments)
        built = command(*arguments)
        assert ours.stdout == built.stdout, arguments
        assert ours.returncode == built.returncode == 0, ours.stderr


def test_the_module_is_the_same(tmp_path):
    module = [sys.executable, "-m", "unruffled", *SHORT, "--no-report", "--json"]
    printed = subprocess.run(module, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert printed.stdout == run(*SHORT, "--no-report", "--json").stdout


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["compar"], "unrecognized subcommand 'compar'"),
        (["compare", "--sed=1"], "unexpected argument '--sed' found"),
        (["compare", "nowhere.toml"], "nowhere.toml: no such file"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(arguments, line, command):
    refused = run(*arguments)
    assert refused.returncode == 2
    assert refused.stderr.startswith(f"unruffled: {line}")
    assert refused.stderr.count("\n") == 1
    assert refused.stderr == command(*arguments).stderr


def test_no_arguments_show_the_first_steps():
    shown = run()
    assert shown.returncode == 2
    assert "First steps:" in shown.stderr


def test_a_closed_standard_output_is_refused():
    refused = subprocess.run(
        ["sh", "-c", '"$0" variants >&-', INSTALLED], capture_output=True, text=True, check=False
    )
    expected = "unruffled: standard output: closed: expected a terminal, a file or a pipe\n"
    assert (refused.returncode, refused.stderr) == (2, expected)


def test_ctrl_c_ends_it(tmp_path):
    grid = tmp_path / "grid.toml"
    # Minutes of simulation, so that the sweep runs when the signal comes.
    runs = "seeds = 10000\n[grid]\ntcp.window = [2, 3, 4, 5, 6, 7, 8, 9]\n"
    grid.write_text('scenario = "rr-3"\nvariants = ["sack"]\n' + runs)
    running = subprocess.Popen(
        [INSTALLED, "sweep", str(grid), "--no-store", "--duration", "1000 s"],
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert running.stderr is not None
    assert running.stderr.readline().startswith(b"rr-3: 8 points, 80000 runs")
    os.kill(running.pid, signal.SIGINT)
    assert running.wait(60) == -signal.SIGINT
    running.stderr.close()
