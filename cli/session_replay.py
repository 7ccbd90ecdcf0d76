"""Saved sessions of the debugger on the command line: read, and run again as tests."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from gradtool.engine.core.command_errors import CommandError, Unreadable
from gradtool.engine.core.errors import FileFormatError
from gradtool.viz.debugger.notebook import Notebook
from gradtool.viz.debugger.saved.comparison import check as replayed
from gradtool.viz.debugger.saved.expressions import cell_expressions, stop_expressions
from gradtool.viz.debugger.saved.reader import SavedSession, load
from gradtool.viz.debugger.terminal import Screen
from gradtool.viz.text import printable

from . import errors
from .context import Output


def read(file: str, out: Output, trust: bool, check: bool, ask: bool) -> SavedSession:
    """The session in a file; notes what of it no file can hold, and what is not evaluated.

    Args:
        trust: whether expressions in the file may be evaluated.
        check: whether its cells are to be run again.
        ask: whether somebody is there to be shown the expressions and asked.
    """
    try:
        data = Path(file).read_bytes()
    except OSError as error:
        raise Unreadable(f"cannot read {file}: {error.strerror or error}") from None
    try:
        saved = load(data, file, trust=trust)
        expressions = cell_expressions(saved.book) if check else stop_expressions(saved.book)
        if expressions and not trust:
            trust = ask and _ask_for_trust(file, expressions)
            saved = load(data, file, trust=trust)
    except FileFormatError as error:
        raise CommandError(error.message, error.hint) from None
    if expressions and not trust and not check:
        out.note(f"disabled, as the file is not trusted (--trust evaluates them): {' · '.join(expressions)}")
    if saved.lost:
        out.note(f"not in the file: {', '.join(saved.lost)} (no data; run the cells that make them again)")
    return saved


def _ask_for_trust(file: str, expressions: list[str]) -> bool:
    """Show what would be evaluated, and ask."""
    click.echo(f"{printable(file)} holds expressions, which can do whatever Python can:", err=True)
    for text in expressions:
        click.echo(f"  {printable(text)}", err=True)
    return click.confirm("Evaluate them?", default=False, err=True)


def check(saved: SavedSession, model: Notebook | None, out: Output) -> int:
    """Run the cells again and say which one differs; the exit code."""
    replay = replayed(saved, model)
    screen = Screen(sys.stdout, color=False, ascii_only=out.ascii)
    if replay.kept:
        out.note(f"not run again (they write files, or ask the model): cells {', '.join(map(str, replay.kept))}")
    if replay.difference is not None:
        screen.say(screen.text(f"{replay.difference}"))
        return errors.FAILED
    count = len(saved.book.cells)
    if replay.refused is not None:
        first = replay.refused.number
        raise CommandError(
            f"{len(replay.book.cells) - 1} of {count} cells as saved; from In [{first}] on they are not run, "
            f"as the file is not trusted and evaluates: {' · '.join(cell_expressions(saved.book))}",
            "if that may run: --replay FILE --check --trust",
        )
    screen.say(screen.text(f"{count} cell{'s' * (count != 1)} as saved"))
    return errors.CLEAN
