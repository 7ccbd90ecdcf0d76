"""Tensors as PyTorch stores them, read without PyTorch: elements by sizes and steps, and the files of ``torch.save``.

Such a file is a zip archive with one folder: ``data.pkl`` is a pickle that says what there is, ``data/0`` the bytes of
a storage. The pickle is read as data (``pickles.py``): what it may name is listed here, anything else ends the reading.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np

from ..core.errors import FileFormatError
from ..core.spec import dtype
from . import pickles
from .jsontext import shorten_value
from .pickles import PickledObject, PickleStandIn, container
from .zip_members import DEFLATED, MOST_INFLATED, Fail, Member, ZipArchive

Array = np.ndarray[Any, np.dtype[Any]]

EXPECTED: Final = "tensors, numbers, texts and plain containers, as torch.save writes them"
PROGRAM: Final = "data.pkl"
_STATE: Final = "where it was made: torch.save(model.state_dict(), FILE)"

_MOST_AXES: Final = 32
_MOST_ELEMENTS: Final = 1 << 31
_MOST_REPEATED: Final = 1 << 24
"""Elements of tensors that have more of them than bytes are stored: what is expanded."""

_STORAGES: Final = {
    "ByteStorage": "uint8",
    "CharStorage": "int8",
    "ShortStorage": "int16",
    "IntStorage": "int32",
    "LongStorage": "int64",
    "HalfStorage": "float16",
    "FloatStorage": "float32",
    "DoubleStorage": "float64",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
    "BoolStorage": "bool",
    "BFloat16Storage": "bfloat16",
}
"""Classes of storages -> names of gradtool's element types."""


class TorchTensor(NamedTuple):
    """A tensor of a file.

    Attributes:
        array: its elements.
        trains: whether it wants a gradient; None where it is no ``nn.Parameter``, and the file does not say.
    """

    array: Array
    trains: bool | None


class Elements:
    """Arrays from bytes of one file.

    Args:
        order: ``"<"`` or ``">"``, which byte of a number comes first.
        size: how many bytes the file has.
        fail: raises what is wrong with it.
    """

    def __init__(self, order: str, size: int, fail: Fail) -> None:
        self.order = order
        self.fail = fail
        self.left = 4 * size + _MOST_REPEATED

    def array(self, name: str, payload: bytes, kind: str, layout: tuple[Sequence[int], Sequence[int], int]) -> Array:
        """The elements of the tensor *name* that lie in *payload*.

        Args:
            layout: sizes, steps, and the first element; whole numbers from 0 on.
        """
        sizes, strides, offset = layout
        elements = np.dtype(dtype(kind).numpy)
        if elements.itemsize > 1 and self.order == ">":
            elements = elements.newbyteorder(">")
        count = 1
        for size in sizes:
            count *= size
        if len(payload) % elements.itemsize:
            self.fail(f"the bytes of {shorten_value(name)} are no {kind}")
        flat = np.frombuffer(payload, elements)
        reach = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True)) if count else -1
        most = _MOST_ELEMENTS if count <= len(flat) else _MOST_REPEATED
        if len(sizes) > _MOST_AXES or reach >= len(flat) or count > most:
            self.fail(f"{shorten_value(name)} of shape {list(sizes[:8])} reaches behind its {len(payload)} bytes")
        self.left -= count
        if self.left < 0:
            self.fail("its tensors have many times the elements that are stored")
        steps = [stride * elements.itemsize for stride in strides]
        view = np.lib.stride_tricks.as_strided(flat[offset:] if count else flat[:0], sizes, steps, writeable=False)
        array = np.ascontiguousarray(view).reshape(sizes)
        return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


LOOKED_AT: Final = 512
"""How many bytes :func:`is_saved` needs at most."""


def is_saved(data: bytes) -> bool:
    """Return whether *data* begins as files of ``torch.save`` do: as a zip archive whose first member is
    ``NAME/data.pkl``.
    """
    return data[:4] == b"PK\3\4" and data[30 : 30 + int.from_bytes(data[26:28], "little")].endswith(b"/data.pkl")


def read(data: bytes, file: str) -> Any:
    """Read a file of ``torch.save``; nothing in it is run.

    Args:
        file: its name, for messages.

    Returns:
        Numbers, texts, :class:`TorchTensor`, and dicts, OrderedDicts, lists, tuples and sets of them.

    Raises:
        FileFormatError: it is none, or holds something else (a ValueError).
    """
    return _Saved(data, file).content()


class _Saved:
    def __init__(self, data: bytes, file: str) -> None:
        self.file = file
        self.size = len(data)
        if data[:4] != b"PK\3\4":
            self.fail(
                "it is no zip archive",
                "PyTorch before 1.6 wrote other files: torch.save(torch.load(FILE), FILE) in a newer one",
            )
        self.zip = ZipArchive(io.BytesIO(data), len(data), self.fail, "torch.save compresses nothing")
        self.members: dict[str, tuple[Member, int]] = {}
        self.payloads: dict[str, bytes] = {}
        self.tensors: dict[Any, Array] = {}

    def fail(self, came: str, hint: str | None = None) -> NoReturn:
        raise FileFormatError(self.file, EXPECTED, came, hint=hint)

    def content(self) -> Any:
        members = list(self.zip.members())
        if sum(m.size for m in members if m.method == DEFLATED) > MOST_INFLATED:
            self.fail(f"more than {MOST_INFLATED} bytes are compressed in it")
        for member, place in zip(members, self.zip.places(members), strict=True):
            _, _, name = member.name.partition("/")
            if name in self.members:
                self.fail(f"it holds {shorten_value(name)} twice")
            self.members[name] = member, place
        if any(name.startswith("code/") for name in self.members):
            self.fail("it holds TorchScript", f"torch.export.save writes a program that is read, {_STATE} its weights")
        order = self.bytes("byteorder") if "byteorder" in self.members else b"little"
        self.elements = Elements(">" if order == b"big" else "<", self.size, self.fail)
        return pickles.read(
            io.BytesIO(self.bytes(PROGRAM)), self.file, pickles.PickleForm(EXPECTED, self.names(), self.find_storage)
        )

    def bytes(self, name: str) -> bytes:
        if name not in self.members:
            self.fail(f"{name} is missing")
        return self.zip.contents(*self.members[name])

    # -- what the pickle names ----------------------------------------------------------------------------------------

    def names(self) -> Sequence[tuple[tuple[str, ...], Mapping[str, Any]]]:
        rebuilt = {
            "_rebuild_tensor": PickleStandIn(self.tensor),
            "_rebuild_tensor_v2": PickleStandIn(self.tensor),
            "_rebuild_parameter": PickleStandIn(_parameter),
            "_rebuild_parameter_with_state": PickleStandIn(_parameter),
        }
        return (
            *pickles.PLAIN,
            (("collections",), {"OrderedDict": container(_StateDict)}),
            (("torch._utils",), rebuilt),
            (("torch", "torch.cuda"), {name: _Kind(kind) for name, kind in _STORAGES.items()}),
            (("torch",), {"Size": container(tuple)}),
        )

    def find_storage(self, told: Any) -> _Storage:
        """The storage that the pickle means: ``("storage", class, key, device, number of elements)``."""
        what, kind, key, _, _ = told
        if what != "storage" or not isinstance(kind, _Kind) or not isinstance(key, str):
            raise ValueError("a storage")
        return _Storage(kind.kind, key)

    def tensor(self, storage: Any, offset: Any, sizes: Any, strides: Any, *more: Any) -> _Described:
        """A tensor: ``_rebuild_tensor_v2(storage, offset, sizes, strides, requires_grad, hooks, metadata)``."""
        whole = isinstance(sizes, tuple) and isinstance(strides, tuple) and len(sizes) == len(strides)
        if not isinstance(storage, _Storage) or not whole:
            raise ValueError("a tensor")
        if not all(type(n) is int and 0 <= n < 1 << 62 for n in (offset, *sizes, *strides)):
            raise ValueError("the shape of a tensor")
        if len(more) > 2 and more[2]:
            self.fail(
                "it holds a tensor whose elements are conjugated or negated when it is read", "save x.resolve_conj()"
            )
        told = storage.kind, storage.key, offset, sizes, strides
        if told not in self.tensors:
            name = f"data/{storage.key}"
            if name not in self.payloads:
                self.payloads[name] = self.bytes(name)
            layout = sizes, strides, offset
            self.tensors[told] = self.elements.array(name, self.payloads[name], storage.kind, layout)
        return _Described(TorchTensor(self.tensors[told], None))


class _Kind(PickledObject):
    """A class of storages that is named."""

    def __init__(self, kind: str) -> None:
        self.kind = kind


class _Storage(PickledObject):
    def __init__(self, kind: str, key: str) -> None:
        self.kind = kind
        self.key = key


class _Described(PickledObject):
    """A tensor in a pickle."""

    def __init__(self, tensor: TorchTensor) -> None:
        self.tensor = tensor

    def plain(self) -> TorchTensor:
        return self.tensor


def _parameter(tensor: Any, trains: Any, *more: Any) -> _Described:
    """A parameter; what follows, its hooks and what else hangs on it in Python, nobody reads."""
    if not isinstance(tensor, _Described) or not isinstance(trains, bool):
        raise ValueError("a parameter")
    return _Described(TorchTensor(tensor.tensor.array, trains))


class _StateDict(pickles.Ordered):
    """An OrderedDict; ``state_dict()`` hangs the versions of the modules on it, which nobody reads here."""

    def __setstate__(self, state: Any) -> None:
        if not isinstance(state, dict):
            raise TypeError("an OrderedDict has no other state")
