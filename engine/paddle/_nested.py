"""Nested objects in a container: arrays as arrays, everything around them as a JSON text called ``structure``.

JSON stands for itself (None, bools, integers, finite numbers, strings, lists); any other value is an object with the
one key that says what it is. The table at the end of each half has them all. Nothing but these types can come out of
a file, and reading them calls nothing that the file names.
"""

from __future__ import annotations

import io
import math
import os
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO, NoReturn

import numpy as np

from gradtool.engine.core import state
from gradtool.engine.core.errors import ArgumentTypeError, FileFormatError, UsageError
from gradtool.engine.core.rows import SelectedRows
from gradtool.engine.core.spec import DTYPES
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.executor.scope import DenseTensor, Scope
from gradtool.engine.files import container, jsontext, streams, torch_tensors
from gradtool.engine.files.container import Array
from gradtool.engine.files.jsontext import shorten_value
from gradtool.engine.ir.from_json import from_json
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.to_json import to_json

from ..engine.core.identity import identity
from . import _checkpoints

FORMAT = "gradtool/state/1"
DEPTH = 64
"""How deep objects may be nested, in memory and in files."""


# -- writing ----------------------------------------------------------------------------------------------------------


def pieces(value: Any) -> Iterator[Any]:
    """The bytes of a container that holds *value*, piece by piece.

    Raises:
        ArgumentTypeError: something in it is of a type that files do not hold; says where (a TypeError).
        UsageError: it is nested too deeply, or contains itself (a ValueError).
    """
    writer = _NestedWriter()
    structure = jsontext.write(writer.node(value, ()))
    return container.pieces(writer.arrays, {"format": FORMAT, "structure": structure})


class _NestedWriter:
    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self.written: dict[int, Any] = {}
        """What stands for tensors, arrays and programs met before, by identity: shared values are stored once."""
        self.counts: dict[str, int] = {}

    def node(self, value: Any, path: tuple[str, ...]) -> Any:
        """Return the node for *value*, which is at *path* in the whole."""
        if len(path) > DEPTH:
            raise UsageError(
                f"paddle.save: the object is nested more than {DEPTH} levels deep, or contains itself.",
                hint=f"it begins with {'.'.join(path[:4])}",
            )
        write = _WRITERS.get(type(value))
        if write is not None:
            return write(self, value, path)
        for kind, write in _SHARED.items():
            if isinstance(value, kind):
                if identity(value) not in self.written:
                    self.written[identity(value)] = write(self, value, path)
                return self.written[identity(value)]
        where = f" at {'.'.join(path)!r}" if path else ""
        raise ArgumentTypeError(
            f"paddle.save: expected tensors, arrays, numbers, strings, None, and lists, tuples and dicts of them, but "
            f"received {type(value).__module__}.{type(value).__qualname__}{where}.",
            hint=_hint(value),
        )

    def store(self, array: Array, path: tuple[str, ...]) -> str:
        """Keep an array under a name that tells where it was found."""
        base = name = ".".join(path) or "value"
        while name in self.arrays or name == container.METADATA:
            self.counts[base] = self.counts.get(base, 0) + 1
            name = f"{base}~{self.counts[base]}"
        self.arrays[name] = array
        return name

    def itself(self, value: Any, path: tuple[str, ...]) -> Any:
        return value

    def number(self, value: float, path: tuple[str, ...]) -> Any:
        return value if math.isfinite(value) else {"float": str(value)}

    def complex_number(self, value: complex, path: tuple[str, ...]) -> Any:
        return {"complex": [self.number(value.real, path), self.number(value.imag, path)]}

    def list_(self, value: list[Any], path: tuple[str, ...]) -> Any:
        return [self.node(entry, (*path, str(i))) for i, entry in enumerate(value)]

    def tuple_(self, value: tuple[Any, ...], path: tuple[str, ...]) -> Any:
        return {"tuple": [self.node(entry, (*path, str(i))) for i, entry in enumerate(value)]}

    def dict_(self, value: dict[Any, Any], path: tuple[str, ...]) -> Any:
        if all(type(key) is str for key in value):
            return {"dict": {key: self.node(entry, (*path, key)) for key, entry in value.items()}}
        return {
            "items": [
                [self.node(key, (*path, "key")), self.node(entry, (*path, str(key)))] for key, entry in value.items()
            ]
        }

    def tensor(self, value: Any, path: tuple[str, ...]) -> Any:
        name = value.name if isinstance(value, Tensor) else value._name
        if isinstance(value, Tensor) and isinstance(value.array, SelectedRows):  # a table that stays sparse
            held = value.array
            places = [self.store(part, (*path, what)) for part, what in ((held.rows, "rows"), (held.values, "values"))]
            return {"selected_rows": places, "height": held.height, "name": name}
        return {"tensor": self.store(np.asarray(value), path), "name": name}

    def array(self, value: Any, path: tuple[str, ...]) -> Any:
        array = np.asarray(value)
        if not container.can_hold(array) or (type(value) is not np.ndarray and not isinstance(value, np.generic)):
            raise ArgumentTypeError(
                f"paddle.save: an array of type {type(value).__name__} with elements of type {array.dtype} cannot be "
                f"saved{f' (at {chr(39)}{chr(46).join(path)}{chr(39)})' if path else ''}.",
                hint="arrays hold bools, integers, real or complex numbers",
            )
        return {"scalar" if isinstance(value, np.generic) else "array": self.store(array, path)}

    def program(self, value: Program, path: tuple[str, ...]) -> Any:
        text = to_json(value).encode("ascii")
        return {"program": self.store(np.frombuffer(text, np.uint8), path)}


_WRITERS: Mapping[type, Callable[[_NestedWriter, Any, tuple[str, ...]], Any]] = {
    type(None): _NestedWriter.itself,
    bool: _NestedWriter.itself,
    int: _NestedWriter.itself,
    str: _NestedWriter.itself,
    float: _NestedWriter.number,
    complex: _NestedWriter.complex_number,
    list: _NestedWriter.list_,
    tuple: _NestedWriter.tuple_,
    dict: _NestedWriter.dict_,
    OrderedDict: _NestedWriter.dict_,
}
"""By exact type: an instance of a subclass would come back as something else."""

_SHARED: Mapping[type, Callable[[_NestedWriter, Any, tuple[str, ...]], Any]] = {
    Tensor: _NestedWriter.tensor,
    DenseTensor: _NestedWriter.tensor,
    np.ndarray: _NestedWriter.array,
    np.generic: _NestedWriter.array,
    Program: _NestedWriter.program,
}


def _hint(value: Any) -> str | None:
    if hasattr(value, "state_dict"):
        return "save its state_dict()"
    if hasattr(value, "block"):
        return "a static variable has no value; save program.state_dict()"
    if isinstance(value, (tuple, dict, list)):
        return f"convert it to a plain {next(t for t in (tuple, dict, list) if isinstance(value, t)).__name__}"
    return None


# -- reading ----------------------------------------------------------------------------------------------------------


def read(file: BinaryIO, name: str, return_numpy: bool = False) -> Any:
    """The object in a container, or in a pickle of real Paddle's or PyTorch's, that *file* has from its position on.

    Raises:
        FileFormatError: it is none of them, damaged, or holds what is not read.
    """
    start = file.read(max(streams.LOOKED_AT, torch_tensors.LOOKED_AT))
    file.seek(-len(start), os.SEEK_CUR)
    if streams.is_stream(start):
        return _only_tensor(streams.read(file.read(), name), name, return_numpy)
    is_of_torch = torch_tensors.is_saved(start)
    if not is_of_torch and not container.is_pickle(start):
        return restored(*container.read_stream(file, name), name, return_numpy)

    def tensor(array: Array, called: str | None) -> Any:
        if array.dtype.name not in _TENSOR_TYPES:
            raise FileFormatError(name, "data types of tensors", f"there is {array.dtype}")
        return array if return_numpy else _tensor(array, called)

    if is_of_torch:
        return _checkpoints.of_torch(torch_tensors.read(file.read(), name), tensor)
    return _checkpoints.read(file, name, tensor)


def _only_tensor(arrays: list[Array], file: str, return_numpy: bool) -> Any:
    """The tensor in a file of Paddle's kernels (``use_binary_format``), which hold no names."""
    if len(arrays) != 1:
        raise FileFormatError(
            file,
            "one tensor, or tensors with names",
            f"it holds {len(arrays)} without names",
            hint="static.load_inference_model and jit.load read it with the program next to it",
        )
    return arrays[0] if return_numpy else _tensor(arrays[0], None)


def restored(arrays: Mapping[str, Array], texts: Mapping[str, str], file: str, return_numpy: bool = False) -> Any:
    """The object that a container holds; arrays by name, if it is a safetensors file that other software wrote.

    Raises:
        FileFormatError: what it says about itself is not right.
    """
    reader = _NestedReader(arrays, file, return_numpy)
    form = texts.get("format", "")
    if not form.startswith("gradtool/"):
        return {name: reader.tensor({"tensor": name, "name": name}, 0) for name in arrays}
    if form != FORMAT:
        raise FileFormatError(
            file, f"format {FORMAT}", f"it is {shorten_value(form)}", hint="a newer gradtool may read it"
        )
    if "structure" not in texts:
        reader.fail("a text called structure", "there is none")
    return reader.value(jsontext.read(texts["structure"], f"{file} (structure)"), 0)


def program_from(data: bytes, where: str = "the bytes") -> Program:
    """The program that *data*, a container, holds; raises :class:`FileFormatError` if it holds something else."""
    from gradtool.engine.ir.paddle import forms

    read = forms.reader(data[: forms.START])
    if read is not None:
        return read(data, where).program
    arrays, texts = container.read_stream(io.BytesIO(data), where)
    content = restored(arrays, texts, where)
    if not isinstance(content, Program):
        raise FileFormatError(where, "a program", f"there is a {type(content).__name__}")
    return content


class _NestedReader:
    def __init__(self, arrays: Mapping[str, Array], file: str, return_numpy: bool) -> None:
        self.arrays = arrays
        self.file = file
        self.return_numpy = return_numpy
        self.objects: dict[tuple[str, str], Any] = {}
        """Tensors, arrays and programs by kind and name: what was shared is shared again."""

    def fail(self, expected: str, came: str) -> NoReturn:
        raise FileFormatError(self.file, expected, came)

    def value(self, node: Any, depth: int) -> Any:
        if depth > DEPTH:
            self.fail(f"at most {DEPTH} levels of nesting", "there are more")
        if isinstance(node, list):
            return [self.value(entry, depth + 1) for entry in node]
        if not isinstance(node, dict):
            return node
        for kind, (read, keys) in _READERS.items():
            if node.keys() == keys:
                return read(self, node[kind] if len(keys) == 1 else node, depth + 1)
        self.fail(f"one of {', '.join(_READERS)}", f"the structure has an object with {shorten_value(list(node))}")

    def float_(self, word: Any, depth: int) -> float:
        if word not in ("nan", "inf", "-inf"):
            self.fail("nan, inf or -inf as a special number", f"it is {shorten_value(word)}")
        return float(word)

    def complex_(self, parts: Any, depth: int) -> complex:
        values = [self.value(part, depth) for part in parts] if isinstance(parts, list) else []
        if len(values) != 2 or not all(type(v) is float for v in values):
            self.fail("real and imaginary part of a number", f"there is {shorten_value(parts)}")
        return complex(*values)

    def tuple_(self, entries: Any, depth: int) -> tuple[Any, ...]:
        if not isinstance(entries, list):
            self.fail("the entries of a tuple", f"there is {shorten_value(entries)}")
        return tuple([self.value(entry, depth) for entry in entries])

    def dict_(self, entries: Any, depth: int) -> dict[Any, Any]:
        if not isinstance(entries, dict):
            self.fail("the entries of a dict", f"there is {shorten_value(entries)}")
        return {key: self.value(entry, depth) for key, entry in entries.items()}

    def items(self, entries: Any, depth: int) -> dict[Any, Any]:
        if not isinstance(entries, list) or not all(isinstance(e, list) and len(e) == 2 for e in entries):
            self.fail("keys and values of a dict", f"there is {shorten_value(entries)}")
        try:
            table = {self.value(key, depth): self.value(entry, depth) for key, entry in entries}
        except TypeError:
            self.fail("keys that a dict can have", f"there is {shorten_value(entries)}")
        if len(table) < len(entries):
            self.fail("keys that differ", f"there is {shorten_value(entries)}")
        return table

    def tensor(self, node: dict[str, Any], depth: int) -> Any:
        array = self.array(node["tensor"], depth)
        return self.named(("tensor", node["tensor"]), array, node["name"])

    def selected_rows(self, node: dict[str, Any], depth: int) -> Any:
        places, height = node["selected_rows"], node["height"]
        rows, values = (self.array(p, depth) for p in places) if _is_pair(places) else (None, None)
        if rows is None or values is None or rows.dtype != np.int64 or rows.ndim != 1 or values.shape[:1] != rows.shape:
            self.fail("indices and values of selected rows", f"there is {shorten_value(places)}")
        if (
            type(height) is not int
            or not 0 <= height < 2**58
            or (rows.size and not 0 <= rows.min() <= rows.max() < height)
        ):
            self.fail("rows within the height of their table", f"it is {shorten_value(height)}")
        return self.named(("selected_rows", places[0]), SelectedRows(rows, values, height), node["name"])

    def named(self, key: tuple[str, str], array: Any, name: Any) -> Any:
        """A tensor, made once; the array itself if that is what the caller wants."""
        readable = self.return_numpy or array.dtype.name in _TENSOR_TYPES
        if not isinstance(name, str) or not readable:
            self.fail("name and data type of a tensor", f"there is {shorten_value(name)} of type {array.dtype}")
        if key not in self.objects:
            self.objects[key] = array if self.return_numpy else _tensor(array, name)
        return self.objects[key]

    def array(self, name: Any, depth: int) -> Array:
        if not isinstance(name, str) or name not in self.arrays:
            self.fail("the name of an array", f"there is {shorten_value(name)}")
        return self.arrays[name]

    def scalar(self, name: Any, depth: int) -> Any:
        array = self.array(name, depth)
        if array.ndim:
            self.fail(f"array {shorten_value(name)} to be one number", f"its shape is {shorten_value(array.shape)}")
        return array[()]

    def program(self, name: Any, depth: int) -> Program:
        array = self.array(name, depth)
        if array.dtype != np.uint8 or array.ndim != 1:
            self.fail(
                f"array {shorten_value(name)} to hold a text",
                f"it is {array.dtype} of shape {shorten_value(array.shape)}",
            )
        key = ("program", str(name))
        if key not in self.objects:
            self.objects[key] = from_json(array.tobytes(), f"{self.file} (program)")
        return self.objects[key]  # type: ignore[no-any-return]


def _tensor(array: Any, name: str | None) -> Any:
    """A tensor as the mode has them: with a gradient to come, or a value as scopes hold it."""
    if isinstance(array, SelectedRows) or not state.in_static_mode():
        return Tensor(array, name=name)
    scope = Scope()
    called = name or "generated_tensor"
    scope.values[called] = array
    return DenseTensor(scope, called)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2


_TENSOR_TYPES = {d.name for d in DTYPES}

_READERS: Mapping[str, tuple[Callable[[_NestedReader, Any, int], Any], set[str]]] = {
    "float": (_NestedReader.float_, {"float"}),
    "complex": (_NestedReader.complex_, {"complex"}),
    "tuple": (_NestedReader.tuple_, {"tuple"}),
    "dict": (_NestedReader.dict_, {"dict"}),
    "items": (_NestedReader.items, {"items"}),
    "array": (_NestedReader.array, {"array"}),
    "scalar": (_NestedReader.scalar, {"scalar"}),
    "tensor": (_NestedReader.tensor, {"tensor", "name"}),
    "selected_rows": (_NestedReader.selected_rows, {"selected_rows", "height", "name"}),
    "program": (_NestedReader.program, {"program"}),
}
"""What an object stands for, by its first key: who reads it, and all its keys."""
