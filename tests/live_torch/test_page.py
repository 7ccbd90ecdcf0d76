"""The page about PyTorch prints what its commands print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.transcripts import ROOT, followed, needs_torch
from tests.notebooks import execute, notebook

PAGES = [p for p in sorted((ROOT / "docs").rglob("*.md")) if needs_torch(p.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT / "docs").as_posix())
def test_a_page_prints_what_its_commands_print(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert followed(text)[0] == text


def test_the_notebook_on_the_page_says_what_stands_there(tmp_path: Path) -> None:
    session = (ROOT / "docs" / "torch.md").read_text(encoding="utf-8").partition("```ipython\n")[2].partition("```")[0]
    cells = re.findall(r"^In \[\d+\]: (.*)$", session, re.MULTILINE)
    shown = [o["data"]["text/plain"] for c in execute(notebook(cells), tmp_path).cells for o in c.outputs]
    assert shown == [session.partition(f"{cells[-1]}\n")[2].rstrip("\n")]
