"""The notebooks run from top to bottom, and are committed with their outputs."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.ipynb"))

# Outputs that differ between machines: folders, addresses of objects, times of day, tracebacks.
OF_A_MACHINE = re.compile(
    r"(?<![\w.])/(home|root|tmp|work|usr|var|opt|Users|private)\b|0x[0-9a-f]{6,}|\d\d:\d\d:\d\d|Traceback"
)


def test_there_are_notebooks():
    assert len(EXAMPLES) == 3


@pytest.fixture(params=EXAMPLES, ids=lambda file: file.stem)
def file(request):
    return request.param


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def kinds(cell):
    """Return a cell's outputs: the names of streams, the formats of results."""
    shown = []
    for output in cell.outputs:
        shown.append(output.get("name") or tuple(sorted(output.data)))
    return shown


def test_a_notebook_runs_and_has_outputs_of_the_committed_kinds(file, tmp_path, monkeypatch):
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("nbclient")
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setenv("UNRUFFLED_QUICK", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    from execute import execute

    ran = execute(file, tmp_path)
    shown = [out for cell in code(ran) for out in cell.outputs]
    assert any("image/png" in out.get("data", {}) for out in shown), "a figure is drawn"
    committed = nbformat.read(file, as_version=4)
    assert [cell.source for cell in ran.cells] == [cell.source for cell in committed.cells]
    assert [kinds(cell) for cell in code(ran)] == [kinds(cell) for cell in code(committed)]
    again = execute(file, tmp_path)
    # A second run, with the first one's store, has the same outputs.
    assert [cell.outputs for cell in code(again)] == [cell.outputs for cell in code(ran)]
    assert not OF_A_MACHINE.search(text_of(ran))


def text_of(notebook):
    """Return all text of a notebook's outputs and metadata."""
    parts = [repr(notebook.metadata)]
    for cell in notebook.cells:
        parts.append(repr(cell.metadata))
        for output in cell.get("outputs", []):
            data = {k: v for k, v in output.get("data", {}).items() if k != "image/png"}
            parts += [output.get("text", ""), *map(str, data.values())]
            parts.append(repr(output.get("metadata")))
    return "\n".join(parts)


def test_a_committed_notebook_is_complete_small_and_independent_of_its_machine(file):
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(file, as_version=4)
    nbformat.validate(notebook)
    assert file.stat().st_size < 300_000
    cells = code(notebook)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert not any(output.output_type == "error" for output in outputs)
    assert not any(output.get("name") == "stderr" for output in outputs)
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert any("text/html" in output.get("data", {}) for output in outputs)
    assert not any("widget" in kind for output in outputs for kind in output.get("data", {}))
    found = OF_A_MACHINE.search(text_of(notebook))
    assert not found, found
    assert sys.prefix not in file.read_text(encoding="utf-8")
