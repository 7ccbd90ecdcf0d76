"""Values as JSON: numbers, texts, lists, and arrays as their bytes; nothing that could be code.

==============================  =============================================================================
``3``, ``"text"``, ``null``     themselves; lists are lists
``{"float": "nan"}``            a number that JSON has not
``{"complex": [0.0, 1.0]}``     a complex number
``{"tuple": […]}``              a tuple
``{"dict": [[key, value], …]}``  a dict
``{"dtype": "float32"}``        a data type
``{"array": {…}}``              an array: dtype, shape, and its bytes (little-endian, in rows) in base64
``{"scalar": {…}}``             a NumPy number, written as an array without dimensions
``{"rows": […]}``               some rows of a table: which, their values, and how many rows the table has
==============================  =============================================================================
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.core.rows import SelectedRows
from gradtool.engine.core.spec import DType
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.files import jsontext

Fail = Callable[[str, str], NoReturn]

_DEPTH = 16
_PLAIN = frozenset({"uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "bool"})


class NoData(GradtoolError):
    """A value is no data that a file could hold."""


def pack(value: Any, depth: int = 0) -> Any:
    """*value* as JSON.

    Raises:
        NoData: it is, or holds, something else.
    """
    if depth > _DEPTH:
        raise NoData("lists nested that deep are no data that a file could hold.")
    if value is None or isinstance(value, (bool, str)) or type(value) is int:
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": str(value)}
    if type(value) is complex:
        return {"complex": [pack(value.real), pack(value.imag)]}
    if type(value) is list:
        return [pack(v, depth + 1) for v in value]
    if type(value) is tuple:
        return {"tuple": [pack(v, depth + 1) for v in value]}
    if type(value) is dict:
        return {"dict": [[pack(k, depth + 1), pack(v, depth + 1)] for k, v in value.items()]}
    if isinstance(value, DType):
        return {"dtype": value.name}
    if isinstance(value, np.generic) and not value.dtype.hasobject:
        return {"scalar": _array(np.asarray(value))}
    if isinstance(value, np.ndarray) and _is_known(value.dtype.name):
        return {"array": _array(value)}
    if isinstance(value, SelectedRows):
        return {"rows": [_array(value.rows), _array(value.values), value.height]}
    raise NoData(f"{type(value).__name__} is no data that a file could hold.")


def _is_known(name: str) -> bool:
    if name in _PLAIN:
        return True
    try:
        return dtype_of(name).numpy is not None
    except GradtoolError:
        return False


def _array(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    if not _is_known(array.dtype.name):
        raise NoData(f"an array of {array.dtype.name} is no data that a file could hold.")
    found: dict[str, Any] = {"dtype": array.dtype.name, "shape": list(array.shape)}
    if array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous:
        # What is computed of it may depend on how it lies in memory, in the last bits.
        found["transposed"] = True
        array = array.T
    native = np.ascontiguousarray(array)
    little = native if native.dtype.itemsize == 1 else native.astype(native.dtype.newbyteorder("<"), copy=False)
    return found | {"data": base64.b64encode(little.tobytes()).decode("ascii")}


def unpack(data: Any, fail: Fail, depth: int = 0) -> Any:
    """The value that *data* stands for; what *fail* raises if there is none."""
    if depth > 2 * _DEPTH:
        fail("values nested less deep", "there are deeper ones")
    if isinstance(data, list):
        return [unpack(v, fail, depth + 1) for v in data]
    if not isinstance(data, dict):
        return data
    match data:
        case {"float": "nan" | "inf" | "-inf" as word, **rest} if not rest:
            return float(word)
        case {"complex": [real, imaginary], **rest} if not rest:
            parts = [unpack(real, fail, depth + 1), unpack(imaginary, fail, depth + 1)]
            if all(type(p) is float for p in parts):
                return complex(*parts)
        case {"tuple": list(values), **rest} if not rest:
            return tuple(unpack(v, fail, depth + 1) for v in values)
        case {"dict": list(pairs), **rest} if not rest:
            if all(isinstance(p, list) and len(p) == 2 for p in pairs):
                return {_key(unpack(k, fail, depth + 1), fail): unpack(v, fail, depth + 1) for k, v in pairs}
        case {"dtype": str(name), **rest} if not rest:
            try:
                return dtype_of(name)
            except GradtoolError as error:
                fail("a data type", error.message.removesuffix("."))
        case {"array": told, **rest} if not rest:
            return _read_array(told, fail)
        case {"scalar": told, **rest} if not rest:
            array = _read_array(told, fail)
            if array.ndim:
                fail("a number without dimensions", f"it has {array.ndim}")
            return array[()]
        case {"rows": [rows, values, int(height)], **rest} if not rest:
            return _read_rows(_read_array(rows, fail), _read_array(values, fail), height, fail)
    fail("a value", f"it is {jsontext.shown(data)}")


def _key(value: Any, fail: Fail) -> Any:
    if not isinstance(value, (str, int, float, bool, tuple, type(None))):
        fail("a key that can be looked up", f"it is {jsontext.shown(value)}")
    return value


def _read_array(told: Any, fail: Fail) -> np.ndarray[Any, Any]:
    match told:
        case {"dtype": str(name), "shape": list(shape), "data": str(data), **rest} if rest.keys() <= {"transposed"}:
            pass
        case _:
            fail("an array with dtype, shape and data", f"it is {jsontext.shown(told)}")
    if not _is_known(name):
        fail("the dtype of an array", f"it is {jsontext.shown(name)}")
    dtype = np.dtype(name) if name in _PLAIN else dtype_of(name).numpy
    assert dtype is not None
    dtype = np.dtype(dtype)
    if len(shape) > 64 or not all(type(d) is int and 0 <= d < 2**62 for d in shape):
        fail("a shape", f"it is {jsontext.shown(shape)}")
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        fail("bytes in base64", f"there is {jsontext.shown(data)}")
    if math.prod(shape) * dtype.itemsize != len(raw):
        fail(f"{math.prod(shape) * dtype.itemsize} bytes for {name}{shape}", f"there are {len(raw)}")
    stored = dtype if dtype.itemsize == 1 else dtype.newbyteorder("<")
    transposed = rest.get("transposed") is True
    flat = np.frombuffer(raw, stored).astype(dtype)
    array = flat.reshape(shape[::-1]).T if transposed else flat.reshape(shape)
    array.flags.writeable = False
    return array


def _read_rows(rows: np.ndarray[Any, Any], values: np.ndarray[Any, Any], height: int, fail: Fail) -> SelectedRows:
    fits = rows.ndim == 1 and rows.dtype.kind in "iu" and values.ndim > 0 and len(rows) == len(values)
    if not fits or (len(rows) and not 0 <= rows.min() <= rows.max() < height):
        fail("rows of a table", "they do not fit it")
    return SelectedRows(rows, values, height)
