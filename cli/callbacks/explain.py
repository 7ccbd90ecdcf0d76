"""Callback of ``gradtool explain``."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.command_errors import unknown
from gradtool.engine.core.near_names import find_near
from gradtool.viz.views import explained, guide, operators, rules
from gradtool.viz.views.view import View

from ..commands import names
from ..context import Output
from ..guide import cookbook, messages, pages


def run(values: dict[str, Any]) -> None:
    """Run the command."""
    words = values.pop("words")
    out = Output.take(values)
    out.emit((_page(words[0]) if len(words) == 1 else None) or _symptom(words))


def _page(word: str) -> View | None:
    """Return the page of a code, a rule or an operator; None where *word* is the name of none.

    Raises:
        CommandError: it is written like a code, and there is none like that.
    """
    codes, upper = pages.codes(), word.upper()
    full = f"GT-{upper}" if upper[:1] == "E" and upper[1:].isdigit() else upper
    if full in codes:
        page = pages.page(full)
        return explained.one(page.code, page.title, page.sections)
    if full.startswith("GT-"):
        raise unknown("code", word, codes)
    # A number behind GT is meant as a code, also where no rule has it: rules.one says which are near.
    if rules.is_one(word) or (upper.startswith("GT") and upper[2:].isdigit()):
        return rules.one(word)
    return operators.one(word) if operators.is_one(word) else None


def _symptom(words: tuple[str, ...]) -> View:
    """Return the commands that answer a symptom; without words, a short guide."""
    if not words:
        return guide.first_words([*map(cookbook.row, cookbook.first())])
    text = " ".join(words)
    rows: list[guide.Row] = [(m.framework, m.title, (m.text,), m.command) for m in messages.search(text)]
    rows += [cookbook.row(question) for question in cookbook.search(text)]
    commands = [*words] if len(words) == 1 and words[0] in names() else []
    return guide.matches(words, rows, commands, [] if rows or len(words) != 1 else _similar(words[0]))


def _similar(word: str) -> list[str]:
    """Return the names of operators and rules that look like *word*."""
    return find_near(word, [*operators.names(), *rules.names()])
