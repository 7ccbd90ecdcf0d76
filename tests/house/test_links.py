"""What texts point at is there: links, paths, and modules that are run."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXTS = [*ROOT.glob("*.md"), *(f for top in ("docs", "tests", "samples") for f in (ROOT / top).rglob("*.md"))]
GUIDES = [f for f in TEXTS if f.name != "CHANGELOG.md"]
"""The texts about today; a list of changes names what was there then."""

LINK = re.compile(r"\]\(([^()\s]+)\)")
PATH = re.compile(r"`((?:engine|viz|cli|tests|samples|docs)/[\w./]*)`")
MODULE = re.compile(r"python -m (tests[\w.]*)")


def name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def prose(file: Path) -> str:
    """A text without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", file.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(file: Path) -> set[str]:
    """What links may name in a text: its headings, written as GitHub and GitLab write them."""
    headings = re.findall(r"^#+ (.*)$", prose(file), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(file: Path) -> Iterator[str]:
    """The links of a text to files or headings that are not there."""
    for link in LINK.findall(prose(file)):
        if link.startswith(("https://", "http://", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (file.parent / path) if path else file
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield link


@pytest.mark.parametrize("file", TEXTS, ids=name)
def test_links_lead_somewhere(file: Path) -> None:
    assert not [*broken(file)]


def test_links_that_lead_nowhere_are_seen(tmp_path: Path) -> None:
    text = tmp_path / "text.md"
    text.write_text("# One\n[a](#one) [b](#two) [c](text.md#one) [d](gone.md) [e](text.md#two) [f](https://x.org/y)\n")
    assert [*broken(text)] == ["#two", "gone.md", "text.md#two"]


@pytest.mark.parametrize("file", GUIDES, ids=name)
def test_paths_and_modules_that_texts_name_are_there(file: Path) -> None:
    assert not [path for path in PATH.findall(prose(file)) if not (ROOT / path).exists()]
    modules = MODULE.findall(file.read_text(encoding="utf-8"))
    assert not [module for module in modules if importlib.util.find_spec(module) is None]


@pytest.mark.parametrize("folder", ["docs", "docs/cookbook", "docs/decisions", "docs/reference"])
def test_an_index_lists_its_folder(folder: str) -> None:
    index = ROOT / folder / "README.md"
    pages = {f.name for f in index.parent.glob("*.md")} - {index.name}
    pages |= {f"{f.parent.name}/README.md" for f in index.parent.glob("*/README.md")}
    linked = {link.partition("#")[0] for link in LINK.findall(prose(index))}
    assert {link for link in linked if not link.startswith("..")} == pages


def test_contributing_is_read_in_ten_minutes() -> None:
    """Ten minutes are some 2,500 words; code is looked at, not read."""
    assert len(prose(ROOT / "CONTRIBUTING.md").split()) < 2500
