"""Archives of ``torch.export`` from bytes, as programs."""

from __future__ import annotations

from typing import NamedTuple

from gradtool.engine.core import state
from gradtool.engine.core.collector import paused_gc
from gradtool.engine.ir.program import Program

from . import archive
from .graph import Builder


class ExportedProgram(NamedTuple):
    """A program from an archive.

    Attributes:
        outputs: the names of what it computes.
        notes: what is read otherwise than the file says it.
    """

    program: Program
    outputs: tuple[str, ...]
    notes: tuple[str, ...]


def read(data: bytes, file: str) -> ExportedProgram:
    """The program in *data*, an archive of ``torch.export``; values of its parameters go to the current scope.

    Args:
        file: its name, for messages.

    Raises:
        FileFormatError: it is none, or one that cannot exist (a ValueError).
    """
    with paused_gc():
        builder = Builder(file, archive.read(data, file))
        was_static = state.in_static_mode()
        state.enable_static()
        try:
            results = builder.read()
        finally:
            if not was_static:
                state.disable_static()
    return ExportedProgram(builder.program, tuple(dict.fromkeys(v.name for v in results)), tuple(builder.notes))
