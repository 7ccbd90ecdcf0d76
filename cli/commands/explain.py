"""Explain a code, a rule, an operator, an error message or a symptom."""

from __future__ import annotations

from typing import Any

import click

from gradtool.engine.core.command_errors import unknown
from gradtool.engine.core.near_names import find_near
from gradtool.viz.views import explained, guide
from gradtool.viz.views.view import View

from ..context import Output, output_options
from ..guide import cookbook, messages, pages
from ..help_pages import Command
from . import names


@click.command("explain", cls=Command)
@click.argument("words", nargs=-1, metavar="[CODE|RULE|OPERATOR|SYMPTOM]...")
@output_options
def command(words: tuple[str, ...], **values: Any) -> None:
    """Explain the code of an error or of a rule, a rule by its name, an operator, or a symptom in your own words.

    \b
    gradtool explain GT-E205
    gradtool explain detached
    gradtool explain relu
    gradtool explain gradient is none

    For a symptom it prints the commands that show the cause. Paste an error message of Paddle or PyTorch as it is, in
    quotes. Without words it prints a short guide. Nothing is looked up on the network.
    """
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
    from gradtool.viz.views import operators, rules

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
    from gradtool.viz.views import operators, rules

    return find_near(word, [*operators.names(), *rules.names()])
