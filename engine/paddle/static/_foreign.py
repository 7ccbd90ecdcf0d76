"""Files of Paddle itself: its programs, and the values that lie beside them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import BinaryIO

import numpy as np

from gradtool.engine.core.errors import FileFormatError, FileMissing
from gradtool.engine.files import container, streams
from gradtool.engine.files.container import Array
from gradtool.engine.ir.paddle.from_desc import DescribedProgram
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.variable import DENSE, Variable
from gradtool.paddle import _nested

START = 64
"""Bytes of a file that tell whether Paddle wrote it."""


def program_in(data: bytes, where: str) -> DescribedProgram | None:
    """The program of Paddle's in *data*; None if that is none.

    Raises:
        FileFormatError: it is damaged, or cut short.
        UnsupportedError: reading it takes a package that is not installed.
    """
    from gradtool.engine.ir.paddle import forms

    read = forms.reader(data[:START])
    return None if read is None else read(data, where)


def is_foreign(start: bytes) -> bool:
    """Return whether a file that begins so holds a program of Paddle's."""
    from gradtool.engine.ir.paddle import forms

    return forms.reader(start) is not None


def values_for(variables: Iterable[Variable], path: str) -> dict[str, Array]:
    """The values in a file, in any form, by the names of *variables*, whose values it holds if it has no names.

    Raises:
        FileMissing: there is no such file.
        FileFormatError: it is damaged, or holds something else.
    """
    with container.open_file(path) as file:
        return values_from(variables, file, path)


def values_from(variables: Iterable[Variable], file: BinaryIO, where: str) -> dict[str, Array]:
    """The values in an open file, as :func:`values_for` reads them."""
    start = file.read(START)
    file.seek(0)
    if streams.is_stream(start) or not start:
        return streams.name_tensors(file.read(), [v.name for v in variables], where)
    values = _nested.read(file, where, return_numpy=True)
    if not isinstance(values, dict) or not all(isinstance(v, np.ndarray) for v in values.values()):
        raise FileFormatError(where, "values of variables by name", "it holds something else")
    return values


def lie_apart(variables: Iterable[Variable], folder: str) -> bool:
    """Return whether the values of variables lie in a folder, a file for each."""
    return any(os.path.isfile(path) for path in (_path_of(v, folder) for v in variables) if path is not None)


def values_apart(variables: Iterable[Variable], folder: str) -> dict[str, Array]:
    """The values of variables that lie in a folder, a file for each, under the names of the variables.

    Raises:
        FileMissing: one is not there.
        FileFormatError: one is damaged.
    """
    values: dict[str, Array] = {}
    for v in variables:
        path = _path_of(v, folder)
        if path is None or not os.path.isfile(path):
            raise FileMissing(f"{folder or os.curdir}: there is no file with the value of '{v.name}'.")
        with open(path, "rb") as file:
            arrays = streams.read(file.read(), path)
        if len(arrays) != 1:
            raise FileFormatError(path, "one tensor", f"it holds {len(arrays)}")
        values[v.name] = arrays[0]
    return values


def _path_of(v: Variable, folder: str) -> str | None:
    """The file of a variable: a name in a file is no way out of its folder."""
    outside = v.name in ("", os.curdir, os.pardir) or os.path.basename(v.name) != v.name or chr(0) in v.name
    return None if outside or os.sep in v.name else os.path.join(folder, v.name)


def beside(program: Program, path: str, endings: Iterable[str]) -> Mapping[str, Array]:
    """The values of a program's variables that lie beside its file *path*, as far as there are any.

    Args:
        endings: of the files that may hold them, beside ``NAME.pdmodel``.

    Raises:
        FileFormatError: one of the files is damaged, or does not fit the program.
    """
    folder, name = os.path.split(path)
    variables = [v for v in program.list_vars() if v.persistable and v.kind == DENSE]
    stem, ending = os.path.splitext(name)
    values: dict[str, Array] = {}
    for other in [stem + e for e in endings] if ending else ["__params__"]:
        file = os.path.join(folder, other)
        if os.path.isfile(file):
            values |= values_for(variables, file)
    if not values and lie_apart(variables, folder):
        values = values_apart(variables, folder)
    own = {v.name: values[v.name] for v in variables if v.name in values}
    for v in variables:
        if v.name in own:
            _expect_fit(v, own[v.name], path)
    return own


def _expect_fit(v: Variable, value: Array, path: str) -> None:
    fits = len(value.shape) == v.ndim and all(d in (-1, n) for d, n in zip(v.shape, value.shape, strict=True))
    if not fits or value.dtype.name != v.dtype.name:
        raise FileFormatError(
            path,
            f"a {v.dtype.name} value of shape {list(v.shape)} of '{v.name}' in the file next to it",
            f"there is one of type {value.dtype} and shape {list(value.shape)}",
        )
