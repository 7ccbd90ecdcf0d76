"""Explain a code, a rule, an operator, an error message or a symptom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..context import Output, output_options
from ..help_pages import Command

if TYPE_CHECKING:
    from gradtool.viz.views.view import View


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
    out.emit((_named(words[0]) if len(words) == 1 else None) or _symptom(words))


def _named(word: str) -> View | None:
    """The page of a code, a rule or an operator; None where *word* is the name of none.

    Raises:
        CommandError: it is written like a code, and there is none like that.
    """
    from gradtool.viz.views import explained, operators, rules

    from ..guide import pages

    codes, upper = pages.codes(), word.upper()
    full = f"GT-{upper}" if upper[:1] == "E" and upper[1:].isdigit() else upper
    if full in codes:
        page = pages.page(full)
        return explained.one(page.code, page.title, page.sections)
    if full.startswith("GT-"):
        from gradtool.engine.core.command_errors import unknown

        raise unknown("code", word, codes)
    if rules.is_one(word) or (upper.startswith("GT") and upper[2:].isdigit()):
        return rules.one(word)
    return operators.one(word) if operators.is_one(word) else None


def _symptom(words: tuple[str, ...]) -> View:
    """The commands that answer a symptom; without words, a short guide."""
    from gradtool.viz.views import guide

    from ..guide import cookbook, messages
    from . import names

    if not words:
        return guide.first_words([*map(cookbook.row, cookbook.first())])
    text = " ".join(words)
    rows: list[tuple[str, str, tuple[str, ...], str]] = [
        (m.framework, m.title, (m.text,), m.command) for m in messages.search(text)
    ]
    rows += [cookbook.row(question) for question in cookbook.search(text)]
    return guide.matches(words, rows, [*words] if len(words) == 1 and words[0] in names() else [], _close(words, rows))


def _close(words: tuple[str, ...], rows: list[Any]) -> list[str]:
    """The names of operators and rules that are close to a word that stands in no symptom."""
    if len(words) != 1 or rows:
        return []
    from gradtool.engine.core.near_names import near
    from gradtool.viz.views import operators, rules

    return near(words[0], [*operators.names(), *rules.names()])
