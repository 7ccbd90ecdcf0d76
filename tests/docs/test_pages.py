"""Pages print what their commands print, but for last digits, and their pictures are what their commands draw."""

from __future__ import annotations

from pathlib import Path

import pytest

import gradtool
from tests.docs import python_names
from tests.docs.transcripts import PICTURES, ROOT, Reader, followed, needs_torch, rounded_alike, shown

FOLLOWED = [p for p in sorted((ROOT / "docs").rglob("*.md")) if "```console" in p.read_text(encoding="utf-8")]
PAGES = [p for p in FOLLOWED if not needs_torch(p.read_text(encoding="utf-8"))]
"""Those whose scripts import torch are followed in ``tests/live_torch``."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT / "docs").as_posix())
def test_a_page_prints_what_its_commands_print(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    now, pictures = followed(text)
    assert now == text
    for name, data in pictures.items():
        assert data == (PICTURES / name).read_bytes(), f"python -m tests.docs.transcripts {page.relative_to(ROOT)}"


def test_every_picture_stands_on_a_page() -> None:
    texts = [p.read_text(encoding="utf-8") for p in PAGES]
    assert {name for text in texts for name in shown(text)} == {p.name for p in PICTURES.iterdir()}


def test_an_output_that_is_out_of_date_is_seen() -> None:
    text = "```console\n$ gradtool explain GT101\nnothing\n$ echo $?\n0\n```\n"
    now, _ = followed(text)
    assert now.startswith("```console\n$ gradtool explain GT101\nGT101 unused-parameter")
    assert now.endswith("\n$ echo $?\n0\n```\n")


def test_edits_apply_to_lines_that_are_there_once(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    reader.write("a.py", "one\ntwo\nthree\n")
    reader.edit("a.py", "-one\n+1\n two\n-three\n")
    assert (tmp_path / "a.py").read_text() == "1\ntwo\n"
    with pytest.raises(ValueError, match="0 times"):
        reader.edit("a.py", "-one\n+1\n")


def test_only_digits_of_measured_times_may_differ() -> None:
    text = (ROOT / "docs" / "cookbook" / "time_per_layer.md").read_text(encoding="utf-8")
    moved = text.replace("5 repeats", "6 repeats")
    assert followed(moved)[0] == moved
    assert followed(text.replace("spread µs", "scatter µs"))[0] not in (text.replace("spread µs", "scatter µs"), "")


def test_only_last_digits_of_decimals_may_differ() -> None:
    assert rounded_alike("[-0.05614274, 1e3] 2 of 3\n", "[-0.05614275, 1e3] 2 of 3\n")
    assert not rounded_alike("0.0561", "0.0571")
    assert not rounded_alike("0.0561", "-0.0561")
    assert not rounded_alike("2 of 3", "2 of 4")
    assert not rounded_alike("0.5 ", "0.5")


def test_the_page_about_python_lists_every_public_name_with_its_signature() -> None:
    """Else ``python -m tests.docs.python_names`` writes the list anew."""
    page = python_names.PAGE.read_text(encoding="utf-8")
    listed = page.partition(python_names.BEGIN)[2].partition(python_names.END)[0]
    assert listed.strip() == python_names.text().strip()
    assert all(f"### gradtool.{name}\n" in listed for name in gradtool.__all__)
