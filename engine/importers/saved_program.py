"""Model files that hold a program instead of Python: JSON, the printed text, a container, or a file of Paddle's own.

Nothing in them is run, so that they are safe to look at wherever they come from. What a file is, its name says: only
``.py`` is Python. A file of another name whose content is not what its name says is refused.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from ..core.command_errors import CommandError
from ..core.errors import FileFormatError
from ..executor.scope import global_scope
from ..files import container
from ..files.jsontext import BOM, shorten_value
from ..ir import roles
from ..ir.program import Program
from ..ir.to_json import SCHEMA
from . import Imported

PROGRAMS: Final[Mapping[str, str]] = {".json": "json", ".txt": "text", ".pdmodel": "container"}
"""What files with programs end in, and how they hold them."""

_BESIDE = (".pdparams", ".pdopt", ".pdiparams")
"""Files beside ``NAME.pdmodel`` that hold values of its variables."""

VALUES: Final = (*_BESIDE, ".safetensors")
"""What files with values end in: containers, which may hold a program as well."""

_FORMS = {**PROGRAMS, **dict.fromkeys(VALUES, "container")}

_OTHERS = {
    ".npz": ("arrays", "--feed FILE.npz feeds them to a program"),
    ".npy": ("an array", "--feed FILE.npz feeds arrays to a program"),
    **dict.fromkeys(
        (".pt", ".pth"),
        (
            "values of PyTorch",
            "in torch, torch.export.save(torch.export.export(module, inputs), FILE.pt2) writes a model",
        ),
    ),
    ".jsonl": ("a session of the debugger", "gradtool debug --replay FILE.jsonl goes on with it"),
    ".ipynb": ("a notebook", "in it, %load_ext gradtool and %%gradtool run a cell as a model"),
    ".dot": ("a picture", "gradtool graph MODEL -o FILE.dot draws a model"),
    ".pyc": ("compiled Python", "give the .py file that it was compiled from"),
}
"""Endings of files that hold no program: what they hold, and what to do with that."""

_TEXT_BEGINS = b"{ // block_idx:"

Read = Callable[[], "Program | Imported"]


ENDINGS = frozenset({*_FORMS, *_OTHERS})
"""The endings that say what a file holds."""


def reader(path: Path, data: bytes) -> Read:
    """A function that reads the program in *data*, the contents of *path*.

    Raises:
        CommandError: it holds something else than its name says, or its name does not say what it holds.
    """
    from gradtool.paddle.static._foreign import START, is_foreign

    ending = path.suffix.lower()
    if ending in _OTHERS:
        what, hint = _OTHERS[ending]
        raise CommandError(f"{path} holds no program: by its name it holds {what}", hint)
    if is_foreign(data[:START]):
        return lambda: _check(path, lambda: _foreign_program(path, data))
    form = _FORMS.get(ending) or _form_of(data)
    if form is None:
        raise CommandError(
            f"{path} is neither Python, which is called NAME.py, nor a saved program", _name_on_stdin(path)
        )
    if form == "text" and _form_of(data) != "text":
        began = shorten_value(data[:40].decode("utf-8", "replace"))
        raise CommandError(
            f"{path} holds no program: expected its printed text, which begins with {_TEXT_BEGINS.decode()}0, "
            f"but it begins with {began}",
            _name_on_stdin(path),
        )
    return _READ[form](path, data)


def _form_of(data: bytes) -> str | None:
    """Return the form of *data*, by its first bytes."""
    if len(data) > 8 and data[4:8] == bytes(4):  # the upper half of a container's length; no text has zeros
        return "container"
    begin = data.removeprefix(BOM).lstrip()
    if begin.startswith(_TEXT_BEGINS):
        return "text"
    return "json" if begin.startswith(b"{") and SCHEMA.encode() in begin[:200] else None


def _name_on_stdin(path: Path) -> str:
    return f"of Python under another name: gradtool COMMAND - < {path}"


def _json(path: Path, data: bytes) -> Read:
    return lambda: _check(path, lambda: Program.from_json(data))


def _text(path: Path, data: bytes) -> Read:
    return lambda: _check(path, lambda: Program.parse_from_string(data.removeprefix(BOM).decode("utf-8", "replace")))


def _container(path: Path, data: bytes) -> Read:
    return lambda: _check(path, lambda: _load_values(path, data))


_READ: dict[str, Callable[[Path, bytes], Read]] = {"json": _json, "text": _text, "container": _container}


def _check(path: Path, read: Read) -> Program | Imported:
    from ..ir.parse import ProgramTextError

    try:
        return read()
    except (FileFormatError, ProgramTextError) as error:
        raise CommandError(f"{path} holds no program: {error.message}", error.hint) from None


def _foreign_program(path: Path, data: bytes) -> Program | Imported:
    """The program of Paddle's in a file; values that lie beside it go to the current scope."""
    from gradtool.paddle.static._foreign import beside, program_in

    described = program_in(data, path.name)
    assert described is not None, "its beginning says that it is one"
    global_scope().values.update(beside(described.program, str(path), _BESIDE))
    return _attach_outputs(described.program, described.fetches)


def _load_values(path: Path, data: bytes) -> Program | Imported:
    """The program in a container; values that lie beside it go to the current scope."""
    from gradtool.paddle.static._saving import inference, values_in

    program, _, fetched = inference(*container.read_stream(io.BytesIO(data), "the bytes"), "the bytes")
    beside = [path.with_suffix(suffix) for suffix in _BESIDE] if path.suffix == ".pdmodel" else []
    for file in beside:
        if file.is_file():
            global_scope().values.update(values_in(str(file)))
    return _attach_outputs(program, [v.name for v in fetched])


def _attach_outputs(program: Program, outputs: Sequence[str]) -> Program | Imported:
    """*program*, with what it computes where the file says that and says no loss."""
    if not outputs or any(op.role & roles.LOSS for op in program.global_block().ops):
        return program
    return Imported(program, tuple(outputs))
