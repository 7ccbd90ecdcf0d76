"""The files of ``jit.save``: for each method a program, with what is fed and fetched, and the values that it needs.

They are those of ``static.save_inference_model``, so each reads what the other has written.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gradtool.engine.core.errors import ArgumentTypeError, FileFormatError, FileMissing, UsageError
from gradtool.engine.files.writing import write_files
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.variable import Variable
from gradtool.paddle import _nested
from gradtool.paddle._saving import target
from gradtool.paddle.static._saving import (
    INFERENCE,
    MODEL,
    NEW_MODEL,
    holds_program,
    persistable,
    program_at,
    values_of,
)

FORWARD = "forward"


class Method(NamedTuple):
    """One method of what was saved.

    Attributes:
        program: in test form.
        feeds: the variables that it takes, in order.
        fetches: those that it returns, in order.
        values: of its persistable variables, by name.
    """

    program: Program
    feeds: list[Variable]
    fetches: list[Variable]
    values: Mapping[str, Any]


def prefix_of(path: Any, where: str) -> str:
    """Return the beginning of the files' names.

    Raises:
        ArgumentTypeError: no path (a TypeError).
        UsageError: it names no file (a ValueError).
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentTypeError(f"{where} takes the path that the files' names begin with, not {type(path).__name__}.")
    name = os.fsdecode(path)
    if not os.path.basename(name):
        raise UsageError(
            "The input path MUST be format of dirname/file_prefix [dirname\\file_prefix in Windows system], but "
            "received file_prefix is empty string."
        )
    return name


def write(prefix: str, methods: Mapping[str, Method], together: bool = False) -> None:
    """Write all files of *methods*, by their names, or none.

    Args:
        together: keep the values of all methods in one file.
    """
    contents: dict[str, Any] = {}
    shared: dict[str, Any] = {}
    for name, method in methods.items():
        held = {
            "program": method.program,
            "feed": [v.name for v in method.feeds],
            "fetch": [v.name for v in method.fetches],
        }
        contents[_named(prefix, name) + MODEL] = _nested.pieces(held)
        shared.update(method.values)
        if not together:
            contents[_named(prefix, name) + INFERENCE] = _nested.pieces(dict(method.values))
    if together:
        contents[prefix + INFERENCE] = _nested.pieces(shared)
    for path in contents:
        target(path)
    write_files(contents)


def _named(prefix: str, method: str) -> str:
    return prefix if method == FORWARD else f"{prefix}.{method}"


def read(prefix: str) -> dict[str, Method]:
    """The methods that files hold, by their names.

    Raises:
        FileMissing: there are none (a FileNotFoundError and a ValueError).
        FileFormatError: one is damaged, or something else (a ValueError).
    """
    methods = {name: _method(path, prefix) for name, path in _models(prefix)}
    if methods:
        return methods
    raise FileMissing(
        f"The ``path`` ({prefix}) to load model not exists: there is no {prefix}{MODEL}.",
        hint="paddle.jit.save(layer, path, input_spec) writes it",
    )


def _models(prefix: str) -> list[tuple[str, str]]:
    """The names of methods, and the files of their programs."""
    folder, base = os.path.split(prefix)
    found = []
    for entry in sorted(os.listdir(folder or ".")) if os.path.isdir(folder or ".") else []:
        path = os.path.join(folder, entry)
        ending = MODEL if entry.endswith(MODEL) else NEW_MODEL
        if not entry.startswith(base) or not entry.endswith(ending):
            continue
        middle = entry[len(base) : -len(ending)]
        if ending == NEW_MODEL and (os.path.isfile(path.removesuffix(ending) + MODEL) or not holds_program(path)):
            continue  # JSON may lie there for other reasons
        if not middle:
            found.append((FORWARD, os.path.join(folder, entry)))
        elif middle.startswith(".") and middle[1:].isidentifier():
            found.append((middle[1:], os.path.join(folder, entry)))
    return found


def _method(path: str, prefix: str) -> Method:
    program, names, fetches = program_at(path)
    if not fetches:
        raise FileFormatError(path, "a program with what it takes and returns", "it holds a program alone")
    values: dict[str, Any] = {}
    beside = [path.removesuffix(MODEL).removesuffix(NEW_MODEL) + INFERENCE, prefix + INFERENCE]
    for file in dict.fromkeys(beside):
        if os.path.isfile(file) and (persistable(program) or not values):
            values = {**values_of(program, file), **values}
    variables = persistable(program)
    for v in variables:
        value = values.get(v.name)
        if value is None:
            raise FileMissing(f"{beside[0]}: it holds no value of '{v.name}', which the program in {path} needs.")
        check(v, value, beside[0])
    block = program.global_block()
    return Method(program, [block.vars[n] for n in names], fetches, {v.name: values[v.name] for v in variables})


def check(v: Variable, value: Any, file: str) -> None:
    """Raise unless *value* has the shape and type of *v*."""
    fits = len(value.shape) == v.ndim and all(d in (-1, n) for d, n in zip(v.shape, value.shape, strict=True))
    if not fits or np.dtype(value.dtype).name != v.dtype.name:
        raise FileFormatError(
            file,
            f"a {v.dtype.name} value of shape {list(v.shape)} of '{v.name}'",
            f"it is {value.dtype} of shape {list(value.shape)}",
        )
