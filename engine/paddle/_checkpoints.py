"""Contents of the files of real ``paddle.save``: which of their arrays are tensors, and what these are called."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

import numpy as np

from gradtool.engine.core.errors import ArgumentTypeError, FileFormatError, UsageError
from gradtool.engine.core.spec import dtype
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.executor.scope import DenseTensor
from gradtool.engine.files import pickle_writer, pickles, torch_tensors
from gradtool.engine.ir.program import Program

from ..engine.core.identity import identity

NAMES = "StructuredToParameterName@@"
"""The entry of a state dict that has the names of its tensors."""
SLICES = "UnpackBigParamInfor@@"
"""The entry that says which entries are slices of one array (protocols 2 and 3 hold no large ones)."""

Tensors = Callable[[Any, str | None], Any]
"""Makes what the caller wants of an array and the name that its tensor had."""


def read(file: BinaryIO, name: str, tensor: Tensors) -> Any:
    """The object in a pickle of ``paddle.save``; each of its tensors is what *tensor* makes.

    Raises:
        FileFormatError: it is damaged, or holds something else than arrays and plain containers.
    """
    content = pickles.read(file, name)
    names: Mapping[Any, Any] = {}
    if isinstance(content, dict):
        names = content.pop(NAMES, {})
        slices = content.pop(SLICES, {})
        if not isinstance(names, dict) or not isinstance(slices, dict):
            raise FileFormatError(name, f"tables as {NAMES} and {SLICES}", "something else stands there")
        for key, place in slices.items():
            content[key] = _joined(content, place, name)
    # Paddle 2.1 and later write a tensor in a nested object as a pair; where there are none, all arrays are tensors.
    pairs = _has_pairs(content)
    done: dict[int, Any] = {}

    def restored(value: Any, called: str | None) -> Any:
        if identity(value) not in done:
            done[identity(value)] = converted(value, called)
        return done[identity(value)]

    def converted(value: Any, called: str | None) -> Any:
        if _is_pair(value):
            return tensor(_values(value[1]), value[0])
        if isinstance(value, np.ndarray):
            return value if pairs else tensor(_values(value), called)
        if isinstance(value, dict):
            return type(value)((k, restored(v, None)) for k, v in value.items())
        if isinstance(value, (list, tuple)):
            return type(value)([restored(v, None) for v in value])
        return value

    if isinstance(content, dict):
        return type(content)((k, restored(v, names.get(k))) for k, v in content.items())
    return restored(content, None)


def of_torch(value: Any, tensor: Tensors) -> Any:
    """Return the contents of a file of ``torch.save``; each of its tensors is what *tensor* makes."""
    done: dict[int, Any] = {}

    def restored(value: Any) -> Any:
        if identity(value) not in done:
            done[identity(value)] = converted(value)
        return done[identity(value)]

    def converted(value: Any) -> Any:
        if isinstance(value, torch_tensors.TorchTensor):
            return tensor(value.array, None)
        if isinstance(value, dict):
            return type(value)((k, restored(v)) for k, v in value.items())
        if isinstance(value, (list, tuple)):
            return type(value)([restored(v) for v in value])
        return value

    return restored(value)


def written(value: Any, protocol: int) -> bytes:
    """The file of *value* that real ``paddle.load`` reads: a pickle, or a program's description.

    Raises:
        ArgumentTypeError: something in it is of a type that such files do not hold (a TypeError).
        UsageError: it is nested too deeply, or contains itself (a ValueError).
    """
    if isinstance(value, Program):
        return value.to_desc()
    if isinstance(value, dict) and value and all(isinstance(v, (Tensor, DenseTensor)) for v in value.values()):
        state: dict[Any, Any] = {key: _array(tensor) for key, tensor in value.items()}
        state[NAMES] = {key: _called(tensor) for key, tensor in value.items()}
        return pickle_writer.dumps(state, protocol)
    return pickle_writer.dumps(_written(value, 0), protocol)


def _written(value: Any, depth: int) -> Any:
    if depth > pickles.DEPTH:
        raise UsageError(
            f"paddle.save: the object is nested more than {pickles.DEPTH} levels deep, or contains itself."
        )
    if isinstance(value, (Tensor, DenseTensor)):
        return _called(value), _array(value)
    if value is None or type(value) in (bool, int, float, str, bytes):
        return value
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufc":
        return value
    if type(value) in (dict, OrderedDict):
        return type(value)((_written(k, depth + 1), _written(v, depth + 1)) for k, v in value.items())
    if type(value) in (list, tuple):
        return type(value)([_written(v, depth + 1) for v in value])
    raise ArgumentTypeError(
        f"paddle.save: Paddle's files hold tensors, arrays, numbers, texts and plain containers, not "
        f"{type(value).__module__}.{type(value).__qualname__}."
    )


def _called(tensor: Any) -> str:
    return str(tensor.name if isinstance(tensor, Tensor) else tensor._name)


def _array(tensor: Any) -> Any:
    """The values of a tensor; those of bfloat16 as whole numbers of 16 bits without sign."""
    array = np.asarray(tensor)
    return array.view(np.uint16) if array.dtype.name == "bfloat16" else array


def _is_pair(value: Any) -> bool:
    """A tensor: its name and its values."""
    return (
        isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], np.ndarray)
    )


def _has_pairs(content: Any) -> bool:
    """Return whether there is a tensor with its name anywhere."""
    seen, left = set(), [content]
    while left:
        value = left.pop()
        if _is_pair(value):
            return True
        if isinstance(value, (dict, list, tuple)) and identity(value) not in seen:
            seen.add(identity(value))
            left += value.values() if isinstance(value, dict) else value
    return False


def _values(array: Any) -> Any:
    """The values of a tensor; pickles hold those of bfloat16 as whole numbers of 16 bits without sign."""
    return array.view(dtype("bfloat16").numpy) if array.dtype == np.uint16 else array


def _joined(content: dict[Any, Any], place: Any, file: str) -> Any:
    """An array that was cut into slices, which are taken out of *content*."""
    try:
        return np.concatenate([content.pop(part) for part in place["slices"]]).reshape(place["OriginShape"])
    except (TypeError, KeyError, ValueError):
        raise FileFormatError(file, "the slices of an array", f"{SLICES} lists others") from None
