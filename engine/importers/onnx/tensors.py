"""Arrays and types as ONNX files hold them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...core.spec import DTYPES
from .errors import Lacking, Malformed
from .narrow_types import CARRIERS

MOST_ELEMENTS: Final = 1 << 31
"""More elements than this no tensor is read with: sizes are told by the file, before its bytes."""

_NAMES: Final = {
    1: "float32",
    2: "uint8",
    3: "int8",
    5: "int16",
    6: "int32",
    7: "int64",
    9: "bool",
    10: "float16",
    11: "float64",
    14: "complex64",
    15: "complex128",
    16: "bfloat16",
}
"""Numbers of element types -> names of gradtool's."""

_OTHERS: Final = {
    4: "uint16",
    12: "uint32",
    13: "uint64",
    17: "float8e4m3fn",
    18: "float8e4m3fnuz",
    19: "float8e5m2",
    20: "float8e5m2fnuz",
    21: "uint4",
    22: "int4",
    23: "float4e2m1",
    24: "float8e8m0",
    25: "uint2",
    26: "int2",
}
"""Those that are kept in wider ones; texts are lacking."""

_KINDS: Final = {d.name: d for d in DTYPES}


def type_name(number: int) -> str:
    """The name of an element type, or of the one that it is kept in.

    Raises:
        Lacking: gradtool has none of that kind.
    """
    name = _NAMES.get(number) or CARRIERS.get(_OTHERS.get(number, ""))
    if name is None:
        raise Lacking(f"the element type {'string' if number == 8 else number}, which gradtool has not")
    return name


def declared_type(number: int) -> str:
    """The name of an element type that is kept in a wider one; empty for those that gradtool has."""
    return _OTHERS.get(number, "")


def type_number(name: str) -> int:
    """The number of an element type by its name here."""
    return next(number for number, own in _NAMES.items() if own == name)


def array_of(proto: Any, folder: Path) -> np.ndarray[Any, Any]:
    """The elements of a ``TensorProto``; those that lie in another file must lie in the model's folder.

    Raises:
        Lacking: an element type that gradtool has not.
        Malformed: fewer elements than the shape says, or a path that leads out of the folder.
    """
    from onnx import numpy_helper

    kind = type_name(proto.data_type)
    count = 1
    for d in proto.dims:
        count *= d
        if d < 0 or count > MOST_ELEMENTS:
            raise Malformed(f"the tensor {proto.name!r} has the shape {list(proto.dims)[:8]}")
    if proto.data_location == 1:
        _expect_inside(proto, folder)
    try:
        array = numpy_helper.to_array(proto, str(folder))
    except Malformed:
        raise
    except Exception as error:
        raise Malformed(f"the tensor {proto.name!r} cannot be read: {error}") from None
    if not declared_type(proto.data_type):
        return np.asarray(array)
    if declared_type(proto.data_type) == "uint64" and array.size and int(array.max()) >> 63:
        raise Lacking(f"the element {int(array.max())} of {proto.name!r}: of uint64 those below 2**63 are read")
    return np.asarray(array).astype(kind)


def _expect_inside(proto: Any, folder: Path) -> None:
    """Raise :class:`Malformed` unless the file with a tensor's elements lies in the model's folder."""
    told = {e.key: e.value for e in proto.external_data}
    location = told.get("location", "")
    root = os.path.realpath(folder)
    whole = os.path.realpath(os.path.join(root, location)) if location and chr(0) not in location else ""
    inside = whole.startswith(root + os.sep) and not os.path.isabs(location)
    if not inside:
        raise Malformed(f"the elements of {proto.name!r} lie in {location!r}, which leads out of the model's folder")
    if not os.path.isfile(whole):
        raise Malformed(f"the elements of {proto.name!r} lie in {location!r}, and there is no such file")
    for key in ("offset", "length"):
        if key in told and not told[key].isdecimal():
            raise Malformed(f"the elements of {proto.name!r} lie at {key} {told[key]!r}")
    begin, length = int(told.get("offset", 0)), int(told.get("length", 0))
    if begin + length > os.path.getsize(whole):
        raise Malformed(f"the elements of {proto.name!r} lie behind the end of {location!r}")


def kind_of(value: Any) -> str:
    """The name of the element type of a variable, a tensor or an array."""
    name = str(getattr(value, "dtype", value)).rpartition(".")[2]
    return name


def is_real(array: np.ndarray[Any, Any]) -> bool:
    """Return whether gradients are taken for elements of this type."""
    kind = _KINDS.get(array.dtype.name)
    return kind is not None and kind.is_floating
