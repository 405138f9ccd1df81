"""Run the notebooks and keep their outputs: ``make notebooks``, or this with the files to run.

Outputs that differ between machines are left out: progress bars, times of execution, and the
version of the kernel.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

#: The metadata of a notebook's file.
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def execute(file: Path, folder: Path) -> nbformat.NotebookNode:
    """Run a notebook in a folder, and return it with its outputs."""
    notebook = nbformat.read(file, as_version=4)
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=3600, resources=resources).execute()
    notebook.metadata = nbformat.from_dict(METADATA)
    number = 0
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({})
        if cell.cell_type == "code":
            number += 1
            cell.execution_count = number
            cell.outputs = [kept(output, number) for output in cell.outputs if is_kept(output)]
    return notebook


def is_kept(output: nbformat.NotebookNode) -> bool:
    """Return whether an output is a result and not a progress bar."""
    if output.output_type == "stream":
        return output.name == "stdout"
    return "application/vnd.jupyter.widget-view+json" not in output.get("data", {})


def kept(output: nbformat.NotebookNode, number: int) -> nbformat.NotebookNode:
    """Return an output without the parts that change in another run."""
    if "execution_count" in output:
        output.execution_count = number
    output.pop("transient", None)
    return output


def main(files: list[str]) -> None:
    """Run notebooks, these or all, and write them with their outputs."""
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    chosen = [Path(file) for file in files] or sorted(Path(__file__).parent.glob("*.ipynb"))
    for file in chosen:
        with tempfile.TemporaryDirectory() as folder:
            ran = execute(file, Path(folder))
        nbformat.write(ran, file)
        print(f"{file.name}: {file.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
