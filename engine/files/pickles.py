"""Reading pickles as data: arrays, numbers, texts and plain containers, and nothing else.

A pickle is a small program, and Python's reader runs whatever it names. Here it can name nothing of Python's: each of
the few names that a :class:`PickleForm` lists, those that ``paddle.save`` writes (:data:`PADDLE`) or those of
``torch.save`` (``torch_tensors.py``), means a stand-in, any other ends the reading, as does an instruction that such
files do not hold (:data:`_INSTRUCTIONS`). Lengths are checked against the size of the file before anything is
allocated.
"""

from __future__ import annotations

import os
import pickle
import pickletools
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO, ClassVar, NamedTuple, NoReturn

import numpy as np

from ..core.errors import FileFormatError
from ..core.identity import identity
from .jsontext import shorten_value

Array = np.ndarray[Any, np.dtype[Any]]

DEPTH = 64
"""How deep what is in a file may be nested."""

_INSTRUCTIONS = frozenset(
    {
        *("PROTO", "FRAME", "STOP", "MARK", "POP", "POP_MARK", "GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD"),
        "BINPERSID",
        *("MEMOIZE", "BINPUT", "LONG_BINPUT", "BINGET", "LONG_BINGET", "NONE", "NEWTRUE", "NEWFALSE"),
        *("BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT", "BINSTRING", "SHORT_BINSTRING"),
        *("BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8"),
        *("EMPTY_LIST", "APPEND", "APPENDS", "LIST", "EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"),
        *("EMPTY_DICT", "SETITEM", "SETITEMS", "DICT", "EMPTY_SET", "ADDITEMS", "FROZENSET"),
    }
)
"""What the pickles of plain data consist of, by the names that :mod:`pickletools` has."""

_ELEMENTS = re.compile(r"[biufc]\d{1,2}")
"""Types of elements whose bytes are numbers."""


class PickleForm(NamedTuple):
    """Content of pickles of one kind.

    Attributes:
        expected: that in words, for messages.
        names: modules, and the names in them, each with what it means here.
        stored: what lies outside the pickle, by what it says of that; None where nothing does.
    """

    expected: str
    names: Sequence[tuple[tuple[str, ...], Mapping[str, Any]]]
    stored: Callable[[Any], Any] | None = None


def read(file: BinaryIO, name: str, form: PickleForm | None = None) -> Any:
    """Read the pickle in *file* from its position on.

    Args:
        name: what to call it in messages.
        form: what it may hold; :data:`PADDLE` if it is None.

    Returns:
        Numbers, texts, bytes, NumPy arrays, and dicts, OrderedDicts, lists, tuples and sets of them; what stands there
        twice is one object.

    Raises:
        FileFormatError: it names or holds something else, is damaged, cut short or nested too deeply.
    """
    form = form or PADDLE
    reader = _Reader(file, name, form)
    try:
        content = reader.load()
    except FileFormatError:
        raise
    except (pickle.UnpicklingError, EOFError) as error:
        raise FileFormatError(name, form.expected, f"the pickle is damaged or cut short: {error}") from None
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError, MemoryError):
        raise FileFormatError(name, form.expected, "the pickle is damaged or cut short") from None
    return _Plain(name, form).value(content, 0)


class _Bounded:
    """A file of which nobody asks for more than there is."""

    def __init__(self, file: BinaryIO) -> None:
        start = file.tell()
        self._left = file.seek(0, os.SEEK_END) - start
        file.seek(start)
        self._file = file

    def read(self, size: int) -> bytes:
        if not 0 <= size <= self._left:
            raise EOFError(f"{size} bytes are announced, and {self._left} are left")
        self._left -= size
        return self._file.read(size)

    def readline(self) -> bytes:
        line = self._file.readline()
        self._left -= len(line)
        return line


class _Reader(pickle._Unpickler):
    """Python's reader in Python, with fewer instructions and no names but its own."""

    dispatch: ClassVar[dict[int, Any]] = {
        ord(o.code): pickle._Unpickler.dispatch[ord(o.code)] for o in pickletools.opcodes if o.name in _INSTRUCTIONS
    }

    def __init__(self, file: BinaryIO, name: str, form: PickleForm) -> None:
        super().__init__(_Bounded(file), encoding="latin1")
        self._name = name
        self._form = form

    def persistent_load(self, pid: Any) -> Any:
        if self._form.stored is None:
            raise pickle.UnpicklingError("what it holds lies outside of it")
        return self._form.stored(pid)

    def find_class(self, module: str, name: str) -> Any:
        for modules, stand_ins in self._form.names:
            if module in modules and name in stand_ins:
                return stand_ins[name]
        raise FileFormatError(
            self._name,
            self._form.expected,
            f"it names {shorten_value(f'{module}.{name}')}, and nothing was made or run of it",
            hint="where it was made: save dicts, lists and tuples of tensors, arrays and numbers (state_dict())",
        )


class PickleStandIn:
    """Meaning of a name in a file: a function of plain values. Nothing in a file can change it."""

    __slots__ = ("_function",)
    _function: Callable[..., Any]

    def __init__(self, function: Callable[..., Any]) -> None:
        object.__setattr__(self, "_function", function)

    def __call__(self, *args: Any) -> Any:
        return self._function(*args)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(name)

    def __setstate__(self, state: Any) -> NoReturn:
        raise TypeError("a name has no state")


class PickledObject:
    """Object that a pickle describes step by step. Nothing but its own instructions can change it."""

    def plain(self) -> Any:
        """Return its final value; None where that is no value, or half of it was described."""
        return None

    def __setstate__(self, state: Any) -> None:
        raise TypeError(f"{type(self).__name__} has no state")


class _Elements:
    """A type of elements that is being described: NumPy's ``dtype``."""

    def __init__(self, code: Any, align: Any = False, copy: Any = True) -> None:
        if not isinstance(code, str) or _ELEMENTS.fullmatch(code) is None:
            raise ValueError(f"elements of type {code!r}")
        self.type = np.dtype(code)

    def __setstate__(self, state: Any) -> None:
        order = state[1]
        if order not in ("<", ">", "|", "=") or any(part is not None for part in state[2:5]):
            raise ValueError("elements that are not plain numbers")
        self.type = self.type.newbyteorder(order)


class _Array(PickledObject):
    """An array that is being described: what ``_reconstruct`` makes, with the state that follows."""

    def __init__(self, *args: Any) -> None:
        self.array: Array | None = None

    def __setstate__(self, state: Any) -> None:
        _, shape, elements, is_fortran, data = state
        if not isinstance(data, bytes) or not isinstance(shape, tuple) or not isinstance(elements, _Elements):
            raise ValueError("an array that is not one of plain numbers")
        if not all(type(n) is int and n >= 0 for n in shape):
            raise ValueError("the shape of an array")
        # Of an array without elements, too, the other dimensions may announce more than there can be.
        array = np.frombuffer(data, elements.type).reshape(shape, order="F" if is_fortran else "C")
        self.array = array.astype(elements.type.newbyteorder("="), order="C")

    def plain(self) -> Array | None:
        return self.array


def _scalar(elements: Any, data: Any) -> Any:
    if not isinstance(elements, _Elements) or not isinstance(data, bytes) or len(data) != elements.type.itemsize:
        raise ValueError("a number")
    return np.frombuffer(data, elements.type)[0]


def _encode(text: Any, encoding: Any) -> bytes:
    if encoding not in ("latin1", "latin-1") or not isinstance(text, str):
        raise ValueError("bytes as a text")
    return text.encode("latin-1")


def container(kind: type) -> PickleStandIn:
    """Return the meaning of the name of a kind of containers: one of it with plain entries."""

    def make(entries: Any = ()) -> Any:
        if not isinstance(entries, (list, tuple, set)):
            raise ValueError(f"the entries of a {kind.__name__}")
        return kind(entries)

    return PickleStandIn(make)


class Ordered(OrderedDict[Any, Any]):
    """An OrderedDict without a state of its own."""

    def __setstate__(self, state: Any) -> None:
        raise TypeError("an OrderedDict has no other state")


PLAIN: tuple[tuple[tuple[str, ...], Mapping[str, Any]], ...] = (
    (
        ("numpy.core.multiarray", "numpy._core.multiarray"),
        {"_reconstruct": PickleStandIn(_Array), "scalar": PickleStandIn(_scalar)},
    ),
    (("numpy",), {"ndarray": PickleStandIn(_Array), "dtype": PickleStandIn(_Elements)}),
    (("_codecs",), {"encode": PickleStandIn(_encode)}),
    (
        ("builtins", "__builtin__"),
        {"bytes": PickleStandIn(lambda: b"")}
        | {kind.__name__: container(kind) for kind in (tuple, list, set, frozenset)},
    ),
)
"""Names that pickles of any kind may hold: those of arrays, bytes and containers."""

PADDLE = PickleForm(
    "NumPy arrays, numbers, texts and plain containers, as paddle.save writes them",
    (*PLAIN, (("collections",), {"OrderedDict": container(Ordered)})),
)
"""What files of ``paddle.save`` hold."""


class _Plain:
    """Takes what was described for what it describes; each object once."""

    def __init__(self, name: str, form: PickleForm) -> None:
        self._name = name
        self._form = form
        self._done: dict[int, Any] = {}

    def fail(self, came: str) -> NoReturn:
        raise FileFormatError(self._name, self._form.expected, came)

    def value(self, value: Any, depth: int) -> Any:
        if depth > DEPTH:
            self.fail(f"what it holds is nested more than {DEPTH} levels deep, or contains itself")
        if value is None or isinstance(value, (bool, int, float, str, bytes, np.generic)):
            return value
        if identity(value) not in self._done:
            self._done[identity(value)] = self._convert(value, depth + 1)
        return self._done[identity(value)]

    def _convert(self, value: Any, depth: int) -> Any:
        if isinstance(value, PickledObject):
            plain = value.plain()
            if plain is not None:
                return plain
        if isinstance(value, (list, tuple, set, frozenset)):
            return type(value)([self.value(entry, depth) for entry in value])
        if isinstance(value, dict):
            entries = [(self.value(key, depth), self.value(entry, depth)) for key, entry in value.items()]
            return OrderedDict(entries) if isinstance(value, Ordered) else dict(entries)
        self.fail("it holds a name, or half an array, in the place of a value")
