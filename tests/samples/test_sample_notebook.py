"""The sample notebook shows what its cells give, and can be read where no script runs."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from tests.notebooks import execute, notebook, outputs, printed

ROOT = Path(__file__).parents[2]
SAVED = ROOT / "samples" / "missing_gradients.ipynb"


@pytest.fixture
def saved() -> NotebookNode:
    return nbformat.read(SAVED, as_version=nbformat.NO_CONVERT)


def test_saved_outputs_are_those_of_its_cells(saved: NotebookNode, tmp_path: Path) -> None:
    before = outputs(saved)
    assert outputs(execute(saved, tmp_path)) == before


def test_it_is_valid_and_not_bound_to_a_machine(saved: NotebookNode) -> None:
    nbformat.validate(saved)
    assert (saved.nbformat, saved.nbformat_minor) == (4, 5)
    text = SAVED.read_text(encoding="utf-8")
    assert not re.search(r"/tmp|ipykernel|0x[0-9a-f]{6}", text)


def test_every_answer_can_be_read_without_scripts(saved: NotebookNode) -> None:
    shown = [o for c in saved.cells for o in c.get("outputs", []) if o.output_type == "execute_result"]
    assert len(shown) == 6
    for output in shown:
        assert output.data["text/plain"].strip()
        assert not re.search(r"<script|<iframe|\bon\w+=", "".join(output.data.values()))


@pytest.mark.parametrize("block", [0, 1])
def test_the_readme_shows_what_a_notebook_shows(tmp_path: Path, block: int) -> None:
    texts = re.findall(
        r"```ipython\n(.*?\n)```", (ROOT / "docs" / "in_notebooks.md").read_text(encoding="utf-8"), re.DOTALL
    )
    assert len(texts) == 2
    _, *parts = re.split(r"^In \[\d+\]: ", texts[block], flags=re.MULTILINE)
    typed = [part.partition("\n") for part in parts]
    nb = execute(notebook(cell for cell, _, _ in typed), tmp_path)
    for (source, _, shown), cell in zip(typed, nb.cells, strict=True):
        values = [o.data["text/plain"] for o in cell.outputs if o.output_type == "execute_result"]
        assert printed(cell) + "".join(f"{v}\n" for v in values) == shown, source
