"""Saved sessions of the debugger on the command line: read, and run again as tests."""

from __future__ import annotations

import sys
from pathlib import Path

from gradtool.engine.core.errors import FileFormatError
from gradtool.viz.debugger.notebook import Notebook
from gradtool.viz.debugger.saved.loading import Saved, load
from gradtool.viz.debugger.saved.replaying import check as replayed
from gradtool.viz.debugger.terminal import Screen

from . import errors
from .context import Output
from .errors import CommandError


def read(file: str, out: Output) -> Saved:
    """The session in a file; notes what of it no file can hold."""
    try:
        data = Path(file).read_bytes()
    except OSError as error:
        raise CommandError(f"cannot read {file}: {error.strerror or error}") from None
    try:
        saved = load(data, file)
    except FileFormatError as error:
        raise CommandError(error.message, error.hint) from None
    if saved.lost:
        out.note(f"not in the file: {', '.join(saved.lost)} (no data; run the cells that make them again)")
    return saved


def check(saved: Saved, model: Notebook | None, out: Output) -> int:
    """Run the cells again and say which one differs; the exit code."""
    replay = replayed(saved, model)
    screen = Screen(sys.stdout, color=False, ascii_only=out.ascii)
    if replay.kept:
        out.note(f"not run again (they write files, or ask the model): cells {', '.join(map(str, replay.kept))}")
    if replay.difference is not None:
        screen.say(screen.text(f"{replay.difference}"))
        return errors.FAILED
    count = len(saved.book.cells)
    screen.say(screen.text(f"{count} cell{'s' * (count != 1)} as saved"))
    return errors.CLEAN
