"""Explain a code, a rule, an operator, an error message or a symptom."""

from __future__ import annotations

from typing import Any

import click

from ..callbacks import call
from ..context import output_options
from ..help_pages import Command


@click.command("explain", cls=Command)
@click.argument("words", nargs=-1, metavar="[CODE|RULE|OPERATOR|SYMPTOM]...")
@output_options
def command(words: tuple[str, ...], **values: Any) -> int:
    """Explain the code of an error or of a rule, a rule by its name, an operator, or a symptom in your own words.

    \b
    gradtool explain GT-E205
    gradtool explain detached
    gradtool explain relu
    gradtool explain gradient is none

    For a symptom it prints the commands that show the cause. Paste an error message of Paddle or PyTorch as it is, in
    quotes. Without words it prints a short guide. Nothing is looked up on the network.
    """
    return call("explain", {**values, "words": words})
