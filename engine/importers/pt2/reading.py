"""Archives of ``torch.export`` from bytes, as programs."""

from __future__ import annotations

from ...core import state
from ...core.collector import pause_gc
from .. import Imported
from . import archive
from .graph import Pt2Builder


def read(data: bytes, file: str) -> Imported:
    """The program in *data*, an archive of ``torch.export``; values of its parameters go to the current scope.

    Args:
        file: its name, for messages.

    Raises:
        FileFormatError: it is none, or one that cannot exist (a ValueError).
    """
    with pause_gc():
        builder = Pt2Builder(file, archive.read(data, file))
        with state.static_mode():
            results = builder.read()
    return Imported(builder.program, tuple(dict.fromkeys(v.name for v in results)), tuple(builder.notes))
