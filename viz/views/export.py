"""The files of an exported program, and what is shown of them."""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np

from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.files import pickle_writer
from gradtool.engine.kinds.export import Exported

from .view import Table, View

ENDING = ".pdmodel"
ONNX = ".onnx"


def form(file: str) -> str:
    """Return the form that a file of that name holds: ``paddle`` or ``onnx``."""
    return "onnx" if file.endswith(ONNX) else "paddle"


def check_name(file: str | None) -> str:
    """*file*, whose name says that it is a program of Paddle's or an ONNX model.

    Raises:
        CommandError: it is called otherwise.
    """
    if not file:
        raise CommandError("export needs a file to write", f"-o NAME{ENDING}, or NAME{ONNX}")
    if not file.endswith((ENDING, ONNX)) or os.path.basename(file) in (ENDING, ONNX):
        raise CommandError(
            f"cannot write {file}: a program of Paddle is called NAME{ENDING}", f"-o NAME{ENDING}, or NAME{ONNX}"
        )
    return file


def files(answer: Exported, file: str) -> dict[str, str | bytes]:
    """Path -> content: the program, and the values that Paddle's ``static.load`` reads beside it."""
    if form(file) == "onnx":
        return {file: answer.program}
    stem = file.removesuffix(ENDING)
    held = {".pdparams": answer.parameters, ".pdopt": answer.others}
    values = {stem + ending: {n: np.asarray(v) for n, v in arrays.items()} for ending, arrays in held.items()}
    return {file: answer.program, **{path: pickle_writer.dumps(arrays) for path, arrays in values.items()}}


def view(answer: Exported, file: str, contents: Mapping[str, str | bytes]) -> View:
    """Show what was written, and how Paddle reads it."""
    sizes = {path: len(content) for path, content in contents.items()}
    table = Table(["file", "bytes"], [[name, str(size)] for name, size in sizes.items()], order=("file…",))
    loss = f" · loss {answer.loss}" if answer.loss else ""
    head = f"export  {answer.about.name} · {answer.forward} forward ops · {answer.backward} backward ops{loss}"
    stem = file.removesuffix(ENDING)
    how = [
        "in Paddle:",
        f"  program = paddle.static.Program.parse_from_string(open({file!r}, 'rb').read())",
        f"  paddle.static.load(program, {stem!r}, paddle.static.Executor())",
    ]
    if form(file) == "onnx":
        how = ["in Python:", f"  session = onnxruntime.InferenceSession({file!r})"]
    data = {"model": answer.about.file, "files": sizes, "fed": list(answer.fed), "loss": answer.loss or None}
    return View("export", data, [head, table, *how], [])
