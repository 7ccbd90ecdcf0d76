"""Pages of the cookbook begin with the question that they answer; the index and `gradtool explain` read that."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

COOKBOOK = Path(__file__).parents[2] / "docs" / "cookbook"
PAGES = sorted(p for p in COOKBOOK.glob("*.md") if p.name != "README.md")
FRONT = re.compile(
    r'---\ntitle: (?P<title>.+)\nsymptoms:\n(?P<symptoms>(?:  - "[^"\n]+"\n)+)command: (?P<command>.+)\n---\n\n'
)


def front(page: Path) -> dict[str, str]:
    matter = FRONT.match(page.read_text(encoding="utf-8"))
    assert matter is not None, "a page begins with its title, its symptoms in quotation marks, and a command"
    return {key: value.strip('"') for key, value in matter.groupdict().items()}


def test_there_are_the_questions_that_people_ask_most() -> None:
    assert len(PAGES) == 31


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_titled_as_it_says_at_its_beginning(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    matter = front(page)
    assert re.findall(r"^# (.*)$", FRONT.sub("", text), re.MULTILINE)[0] == matter["title"]
    assert f"| [{matter['title']}]({page.name}) |" in (COOKBOOK / "README.md").read_text(encoding="utf-8")
    assert matter["command"].startswith("gradtool ")
    assert matter["command"] in FRONT.sub("", text)


def test_no_symptom_stands_on_two_pages() -> None:
    symptoms = [line for page in PAGES for line in front(page)["symptoms"].lower().splitlines()]
    assert len(symptoms) == len(set(symptoms))


ONLY_PADDLE = {"paddle_nan_check"}
"""Pages about something that PyTorch does not have."""


def test_each_page_has_a_tab_for_each_framework() -> None:
    tabs = {page.stem for page in (COOKBOOK / "torch").glob("*.md")}
    assert tabs == {page.stem for page in PAGES} - ONLY_PADDLE


@pytest.mark.parametrize("page", sorted((COOKBOOK / "torch").glob("*.md")), ids=lambda page: page.stem)
def test_tabs_lead_to_each_other_and_their_scripts_are_of_one_framework(page: Path) -> None:
    paddle, torch = (file.read_text(encoding="utf-8") for file in (COOKBOOK / page.name, page))
    title = front(COOKBOOK / page.name)["title"]
    assert f"# {title}\n\n**Paddle** · [PyTorch](torch/{page.name})\n" in paddle
    assert f"# {title} (PyTorch)\n\n[Paddle](../{page.name}) · **PyTorch**\n" in torch
    assert re.search(r"^import torch$", torch, re.MULTILINE)
    assert not re.search(r"^import paddle$", torch, re.MULTILINE)
    assert not re.search(r"^import torch$", paddle, re.MULTILINE)
