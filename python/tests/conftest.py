from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def command() -> Command:
    """Run the command; ``UNRUFFLED_COMMAND`` names it, ``make test`` builds it."""
    program = os.environ.get("UNRUFFLED_COMMAND") or str(ROOT / "target/debug/unruffled")
    if not Path(program).exists():
        pytest.skip(f"no command {program}: cargo build -p unruffled")

    def run(*arguments: str, **more: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program, *arguments], capture_output=True, text=True, check=False, **more
        )

    return run
