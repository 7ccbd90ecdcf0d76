"""Model files that hold a program instead of Python: JSON, the printed text, or a container.

Nothing in them is run, so that they are safe to look at wherever they come from.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gradtool.engine.core.errors import FileFormatError
from gradtool.engine.executor.scope import global_scope
from gradtool.engine.ir.parse import ProgramTextError
from gradtool.engine.ir.program import Program

from .errors import CommandError

_VALUES = (".pdparams", ".pdopt", ".pdiparams")
"""Files beside ``NAME.pdmodel`` that hold values of its variables."""


def reader(path: Path, data: bytes) -> Callable[[], Program] | None:
    """A function that reads the program in *data*, the contents of *path*; None when it is something else."""
    if len(data) > 8 and data[4:8] == bytes(4):  # the upper half of a container's length; no text has zeros
        return lambda: _checked(path, lambda: _container(path, data))
    if data.lstrip().startswith(b"{ // block_idx:"):
        return lambda: _checked(path, lambda: Program.parse_from_string(data.decode("utf-8", "replace")))
    if path.suffix == ".json":
        return lambda: _checked(path, lambda: Program.from_json(data))
    return None


def _checked(path: Path, read: Callable[[], Program]) -> Program:
    try:
        return read()
    except (FileFormatError, ProgramTextError) as error:
        raise CommandError(f"{path} holds no program: {error.message}", error.hint) from None


def _container(path: Path, data: bytes) -> Program:
    """The program in a container; values that lie beside it go to the current scope."""
    from gradtool.static import deserialize_program
    from gradtool.static._saving import values_in

    program: Program = deserialize_program(data)
    beside = [path.with_suffix(suffix) for suffix in _VALUES] if path.suffix == ".pdmodel" else []
    for file in beside:
        if file.is_file():
            global_scope().values.update(values_in(str(file)))
    return program
