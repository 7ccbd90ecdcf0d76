"""What is told of a run beside the answer: where it ended, and what it would have left behind."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradtool.engine.core import source
from gradtool.engine.files.overlay import Overlay

from .notes import Notes
from .wording import count

if TYPE_CHECKING:
    from .loader import Loaded

MORE = "--steps all lets it run to its end"
"""How notes end that say where a file was stopped."""

_NAMED = 3
"""Files that are named; of more, the number is told."""


def stop(left: Loaded, notes: Notes) -> None:
    """Say where a file was stopped, if it was: what would have happened later is not part of any answer."""
    if left.calls.stopped is not None:
        passes = left.calls.passes
        notes.note(
            f"{left.name} was stopped at {source.short(left.calls.stopped)} after {passes} "
            f"backward pass{'' if passes == 1 else 'es'}; {MORE}"
        )


def files(left: Loaded, overlay: Overlay, notes: Notes) -> None:
    """Say which files are not as the model would have left them."""
    written, removed = overlay.changes()
    for paths, verb in ((written, "wrote"), (removed, "removed")):
        if paths:
            notes.note(f"{left.name} {verb} {_named(paths, overlay.home)}: only this run saw that; --write makes it so")


def _named(paths: Sequence[str], folder: str | None) -> str:
    """The paths, those below the folder from there."""
    here = os.path.join(folder or "", "")
    first = ", ".join(path.removeprefix(here) for path in paths[:_NAMED])
    more = len(paths) - _NAMED
    return f"{first} and {count(more, 'more file')}" if more > 0 else first
