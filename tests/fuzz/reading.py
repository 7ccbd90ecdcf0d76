"""Files that gradtool reads, changed at random: each is read, or refused by the one error that is for it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import Any, NamedTuple

import numpy as np

from gradtool import paddle
from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.core.errors import FileFormatError, GradtoolError
from gradtool.engine.ir.parse import ProgramTextError
from gradtool.engine.ir.program import Program
from gradtool.engine.kinds.program import feeds
from gradtool.viz.debugger.saved import reader
from tests.viz.debugger.saved import test_saved_sessions as sessions

from . import foreign, standard, torchs, written
from .mutations import changed_bytes, changed_value
from .programs import programs

REFUSED = (FileFormatError, ProgramTextError, CommandError)
"""What a reader may raise."""


class Case(NamedTuple):
    """A changed file.

    Attributes:
        data: what it holds.
        read: reads it, and uses what it read.
    """

    data: bytes
    read: Callable[[bytes], object]


def text(draw: Random) -> Case:
    """A program's printed text."""
    return Case(changed_bytes(draw.choice(_texts()), _texts(), draw), _read_text)


def json_text(draw: Random) -> Case:
    """A program as JSON: its bytes, or its values."""
    if draw.random() < 0.4:
        return Case(changed_bytes(draw.choice(_jsons()), _jsons(), draw), _read_json)
    value = changed_value(json.loads(draw.choice(_jsons())), draw)
    return Case(json.dumps(value).encode(), _read_json)


def container(draw: Random) -> Case:
    """A container of tensors, of a program, or of a program for inference."""
    data = draw.choice(_containers())
    if draw.random() < 0.5:
        return Case(changed_bytes(data, _containers(), draw), _read_container)
    length = int.from_bytes(data[:8], "little")
    header = changed_value(json.loads(data[8 : 8 + length]), draw)
    if isinstance(header, dict) and isinstance(texts := header.get("__metadata__"), dict) and draw.random() < 0.6:
        for name, entry in texts.items():
            if isinstance(entry, str) and entry[:1] in "{[" and draw.random() < 0.5:
                with contextlib.suppress(ValueError):
                    texts[name] = json.dumps(changed_value(json.loads(entry), draw))
    new = json.dumps(header).encode()
    return Case(len(new).to_bytes(8, "little") + new + data[8 + length :], _read_container)


def feed(draw: Random) -> Case:
    """An ``.npz`` or ``.npy`` file: its bytes, or those of an array inside a sound archive."""
    if draw.random() < 0.5:
        return Case(changed_bytes(draw.choice(_archives()), _archives(), draw), _read_feed)
    array = changed_bytes(draw.choice(_arrays()), _arrays(), draw)
    if draw.random() < 0.3:
        return Case(array, _read_feed)
    return Case(_archive([array], draw.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))), _read_feed)


def session(draw: Random) -> Case:
    """A saved session of the debugger: its bytes, or the values in one of its lines."""
    data = draw.choice(_sessions())
    if draw.random() < 0.4:
        return Case(changed_bytes(data, _sessions(), draw), _read_session)
    lines = data.split(b"\n")
    at = draw.randrange(len(lines) - 1)
    lines[at] = json.dumps(changed_value(json.loads(lines[at]), draw)).encode()
    return Case(b"\n".join(lines), _read_session)


def _foreign(kind: str) -> Callable[[Random], Case]:
    return lambda draw: Case(*_FOREIGN[kind](draw))


_FOREIGN = {**foreign.READERS, **standard.READERS, **torchs.READERS, **written.READERS}


READERS: dict[str, Callable[[Random], Case]] = {
    "program text": text,
    "program JSON": json_text,
    "container": container,
    "feed": feed,
    "session": session,
    **{kind: _foreign(kind) for kind in _FOREIGN},
}


# -- the files that are changed ---------------------------------------------------------------------------------------


@cache
def _texts() -> Sequence[bytes]:
    return [str(program).encode() for program in programs()]


@cache
def _jsons() -> Sequence[bytes]:
    return [program.to_json().encode() for program in programs()]


@cache
def _containers() -> Sequence[bytes]:
    state = {
        "weight": np.arange(6, dtype="float32").reshape(2, 3),
        "steps": [3, (0.5, None), {"deep": np.array([True, False])}],
        "z": np.array(1 + 2j),
        "half": np.ones((2, 1), "float16"),
    }
    first, *_, loop = programs()
    held = {"program": loop, "feed": ["x"], "fetch": []}
    return [_saved(state), _saved(first), _saved(held)]


def _saved(value: Any) -> bytes:
    file = io.BytesIO()
    paddle.save(value, file)
    return file.getvalue()


@cache
def _arrays() -> Sequence[bytes]:
    files = []
    for array in (np.ones((2, 3), "float32"), np.asfortranarray(np.ones((3, 2), ">f8")), np.array(True), np.zeros(0)):
        file = io.BytesIO()
        np.save(file, array)
        files.append(file.getvalue())
    return files


@cache
def _archives() -> Sequence[bytes]:
    arrays = [*_arrays()]
    return [
        _archive(arrays, zipfile.ZIP_STORED),
        _archive(arrays, zipfile.ZIP_DEFLATED),
        _archive(arrays[:1]),
        arrays[0],
    ]


def _archive(arrays: Sequence[bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for i, data in enumerate(arrays):
            archive.writestr(zipfile.ZipInfo(f"{'xyzw'[i]}.npy"), data, method)
    return file.getvalue()


@cache
def _sessions() -> Sequence[bytes]:
    return [sessions.writer.text(sessions.book_of(which)).encode() for which in sessions.CELLS]


# -- reading them -----------------------------------------------------------------------------------------------------


def _read_text(data: bytes) -> None:
    _use(Program.parse_from_string(data.decode("utf-8", "replace")))


def _read_json(data: bytes) -> None:
    _use(Program.from_json(data))


def _use(program: Program) -> None:
    """What reading lets pass must print, save, be read again and be made a plan of."""
    from gradtool.engine.executor.lower import lower
    from gradtool.engine.kernels.choice import backend

    shown = str(program)
    Program.from_json(program.to_json())
    with contextlib.suppress(ProgramTextError):  # the text says less: what is fed, and what kind of numbers
        Program.parse_from_string(shown)
    block = program.global_block()
    fed = [v.name for v in block.vars.values() if v.is_data]
    written = list(dict.fromkeys(v.name for op in block.ops for v in op.output_variables() if v.block is block))
    with contextlib.suppress(GradtoolError):
        lower(program, fed, written, backend("numpy"), {"prune"})


def _read_container(data: bytes) -> None:
    for read in (lambda: paddle.load(io.BytesIO(data)), lambda: paddle.static.deserialize_program(data)):
        with contextlib.suppress(FileFormatError):
            value = read()
            if isinstance(value, Program):
                _use(value)


@cache
def _variables() -> Program:
    program = Program()
    with paddle.static.program_guard(program, Program()):
        for name, shape, kind in (("x", [2, 3], "float32"), ("y", [None, 2], "float64"), ("z", [], "bool")):
            paddle.static.data(name, shape, kind)
    return program


@cache
def net() -> str:
    """A program as JSON that is fed from such files."""
    program = Program()
    with paddle.static.program_guard(program, Program()):
        x = paddle.static.data("x", [2, 3])
        paddle.mean(paddle.static.nn.fc(x, 2))
    return program.to_json()


def _read_feed(data: bytes) -> None:
    folder = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        file.write(data)
        file.flush()
        feeds.read(file.name, _variables())


def _read_session(data: bytes) -> None:
    reader.load(data, "session.jsonl")
