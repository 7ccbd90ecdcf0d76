"""Executing real notebooks in a real kernel; ``python -m tests.notebooks FILE`` renews the outputs of a saved one."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode, v4

_LIMIT = 120
"""Seconds that a cell may take before a test gives up on it."""


def notebook(cells: Iterable[str]) -> NotebookNode:
    """A notebook of code cells."""
    fresh = v4.new_notebook(cells=[v4.new_code_cell(text) for text in cells])
    for i, cell in enumerate(fresh.cells):
        cell.id = f"cell-{i}"
    return fresh


def execute(nb: NotebookNode, folder: Path, *, allow_errors: bool = True) -> NotebookNode:
    """Run *nb* in a kernel of this interpreter with *folder* as its current one.

    Args:
        allow_errors: False lets the first failing cell end it, unless the cell says that it may fail.
    """
    with tempfile.TemporaryDirectory() as home:
        # The kernel inherits the environment; what it writes beside outputs goes with the folder.
        usual = dict(os.environ)
        os.environ.update(IPYTHONDIR=home, JUPYTER_RUNTIME_DIR=home, JUPYTER_PLATFORM_DIRS="1")
        try:
            client = NotebookClient(
                nb,
                timeout=_LIMIT,
                kernel_name="python3",
                allow_errors=allow_errors,
                record_timing=False,
                resources={"metadata": {"path": str(folder)}},
            )
            client.execute()
        finally:
            os.environ.clear()
            os.environ.update(usual)
    nb.metadata = NotebookNode(
        kernelspec={"display_name": "Python 3", "language": "python", "name": "python3"},
        language_info={"name": "python"},
    )
    nbformat.validate(nb)
    return nb


def bundle(cell: NotebookNode) -> Mapping[str, str]:
    """What a cell's value is shown as, by MIME type."""
    (result,) = [o for o in cell.outputs if o.output_type == "execute_result"]
    data: Mapping[str, str] = result.data
    return data


def printed(cell: NotebookNode, stream: str = "stdout") -> str:
    """What a cell printed."""
    return "".join(o.text for o in cell.outputs if o.output_type == "stream" and o.name == stream)


def failure(cell: NotebookNode) -> str:
    """What is shown of the exception that ended a cell."""
    (error,) = [o for o in cell.outputs if o.output_type == "error"]
    return "\n".join(error.traceback)


def outputs(nb: NotebookNode) -> list[Any]:
    """All outputs, cell by cell, without what counts executions."""
    return [[{k: v for k, v in o.items() if k != "execution_count"} for o in c.get("outputs", [])] for c in nb.cells]


if __name__ == "__main__":
    for name in sys.argv[1:]:
        document = nbformat.read(name, as_version=4)
        nbformat.write(execute(document, Path(name).resolve().parent), name)
