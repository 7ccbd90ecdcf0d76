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

    code = "GT-E605"


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
    packed: dict[str, Any] = {"dtype": array.dtype.name, "shape": list(array.shape)}
    if array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous:
        # What is computed of it may depend on how it lies in memory, in the last bits.
        packed["transposed"] = True
        array = array.T
    native = np.ascontiguousarray(array)
    little = native if native.dtype.itemsize == 1 else native.astype(native.dtype.newbyteorder("<"), copy=False)
    return packed | {"data": base64.b64encode(little.tobytes()).decode("ascii")}


def unpack(data: Any, fail: Fail, depth: int = 0) -> Any:
    """The value that *data* stands for; what *fail* raises if there is none."""
    if depth > 2 * _DEPTH:
        fail("values nested less deep", "there are deeper ones")
    if isinstance(data, list):
        return [unpack(v, fail, depth + 1) for v in data]
    if not isinstance(data, dict):
        return data
    word, told = next(iter(data.items()), ("", None))
    read = _READERS.get(word) if len(data) == 1 else None
    value = _NO_VALUE if read is None else read(told, fail, depth + 1)
    if value is _NO_VALUE:
        fail("a value", f"it is {jsontext.shorten_value(data)}")
    return value


_NO_VALUE = object()
"""What a reader gives where there is nothing that it reads."""


def _read_float(told: Any, fail: Fail, depth: int) -> Any:
    return float(told) if told in ("nan", "inf", "-inf") else _NO_VALUE


def _read_complex(told: Any, fail: Fail, depth: int) -> Any:
    if not isinstance(told, list) or len(told) != 2:
        return _NO_VALUE
    real, imaginary = (unpack(part, fail, depth) for part in told)
    return complex(real, imaginary) if type(real) is type(imaginary) is float else _NO_VALUE


def _read_tuple(told: Any, fail: Fail, depth: int) -> Any:
    return tuple([unpack(v, fail, depth) for v in told]) if isinstance(told, list) else _NO_VALUE


def _read_dict(told: Any, fail: Fail, depth: int) -> Any:
    if not isinstance(told, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in told):
        return _NO_VALUE
    return {_key(unpack(k, fail, depth), fail): unpack(v, fail, depth) for k, v in told}


def _read_dtype(told: Any, fail: Fail, depth: int) -> Any:
    if not isinstance(told, str):
        return _NO_VALUE
    try:
        return dtype_of(told)
    except GradtoolError as error:
        fail("a data type", error.message.removesuffix("."))


def _read_scalar(told: Any, fail: Fail, depth: int) -> Any:
    array = _read_array(told, fail)
    if array.ndim:
        fail("a number without dimensions", f"it has {array.ndim}")
    return array[()]


def _read_table(told: Any, fail: Fail, depth: int) -> Any:
    if not isinstance(told, list) or len(told) != 3 or not isinstance(told[2], int):
        return _NO_VALUE
    return _read_rows(_read_array(told[0], fail), _read_array(told[1], fail), told[2], fail)


_READERS: dict[str, Callable[[Any, Fail, int], Any]] = {
    "float": _read_float,
    "complex": _read_complex,
    "tuple": _read_tuple,
    "dict": _read_dict,
    "dtype": _read_dtype,
    "array": lambda told, fail, depth: _read_array(told, fail),
    "scalar": _read_scalar,
    "rows": _read_table,
}
"""By the one key of what stands for a value: what reads the rest, or :data:`_NO_VALUE`."""


def _key(value: Any, fail: Fail) -> Any:
    if not isinstance(value, (str, int, float, bool, tuple, type(None))):
        fail("a key that can be looked up", f"it is {jsontext.shorten_value(value)}")
    return value


def _read_array(told: Any, fail: Fail) -> np.ndarray[Any, Any]:
    match told:
        case {"dtype": str(name), "shape": list(shape), "data": str(data), **rest} if rest.keys() <= {"transposed"}:
            pass
        case _:
            fail("an array with dtype, shape and data", f"it is {jsontext.shorten_value(told)}")
    if not _is_known(name):
        fail("the dtype of an array", f"it is {jsontext.shorten_value(name)}")
    dtype = np.dtype(name) if name in _PLAIN else dtype_of(name).numpy
    assert dtype is not None
    dtype = np.dtype(dtype)
    if len(shape) > 64 or not all(type(d) is int and 0 <= d < 2**62 for d in shape):
        fail("a shape", f"it is {jsontext.shorten_value(shape)}")
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        fail("bytes in base64", f"there is {jsontext.shorten_value(data)}")
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
