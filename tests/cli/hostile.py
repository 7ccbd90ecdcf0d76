"""Values that no command may trust: whatever they do when they are looked at, an answer is the same as without them."""

from __future__ import annotations

import argparse
import contextvars
import enum
import functools
import importlib.util
import re
import socket
import sys
import threading
import types
import typing
import weakref
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, deque, namedtuple
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

LONG = 2000
"""Entries of a long list: more than gradtool looks into, where a test makes that fewer."""

TOUCHED: list[str] = []
"""What was run of the values' own code, once they stood there."""


class TouchedError(BaseException):
    """Code of a value ran; no ``Exception``, so that nobody swallows it by chance."""


def _refused(name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        TOUCHED.append(name)
        raise TouchedError(name)

    return refuse


_PROTOCOL = (
    *("__eq__", "__ne__", "__lt__", "__bool__", "__len__", "__iter__", "__next__", "__contains__", "__getitem__"),
    *("__repr__", "__str__", "__format__", "__call__", "__enter__", "__exit__", "__index__", "__int__", "__float__"),
    *("__array__", "__array_ufunc__", "__array_function__", "__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__"),
    *("__dir__", "__sizeof__", "__fspath__", "__buffer__", "__iadd__", "__add__"),
)
"""What a look at a value may run; all of it refuses."""


def _class(name: str, base: type = object, **more: Any) -> type:
    body = {n: _refused(f"{name}.{n}") for n in _PROTOCOL}
    return type(name, (base,), {**body, **more})


def _raising(name: str) -> property:
    return property(_refused(name))


class Meta(type):
    """A metaclass that refuses every look-up in its classes."""

    def __getattribute__(cls, name: str) -> Any:
        return _refused(f"Meta.{name}")()

    __instancecheck__ = __subclasscheck__ = _refused("Meta.check")
    __iter__ = __len__ = __bool__ = __repr__ = __eq__ = __call__ = _refused("Meta.protocol")
    __hash__ = type.__hash__


class Refusing(metaclass=Meta):
    """A class that cannot be looked into."""


class Claiming:
    """A class whose instances say that they are of another one."""

    @property
    def __class__(self) -> Any:
        return _refused("Claiming.__class__")()


class Unbound:
    """A proxy, as web frameworks have them, that stands for nothing at the moment."""

    def __getattribute__(self, name: str) -> Any:
        return _refused(f"Unbound.{name}")()


class WithoutFields:
    """A class whose ``__dict__`` is a property."""

    __dict__ = _raising("WithoutFields.__dict__")  # type: ignore[assignment]


class Slotted:
    """Slots, one of them empty, and a name of its own in place of a list."""

    __slots__ = ("__hidden", "empty", "full")

    def __init__(self) -> None:
        self.full, self.__hidden = 3, 4


class OneSlot:
    """A slot that is given as a text."""

    __slots__ = "only"


class Misplaced:
    """A class without a module's name."""

    __module__ = 7  # type: ignore[assignment]


class Lazy(dict[str, Any]):
    """A dict that loads when it is read."""

    items = values = keys = get = __iter__ = __getitem__ = __len__ = __contains__ = _refused("Lazy")  # type: ignore[assignment]


class LazyOrdered(OrderedDict[str, Any]):
    """An ordered one."""

    items = values = keys = __iter__ = __getitem__ = __len__ = _refused("LazyOrdered")  # type: ignore[assignment]


class LazyList(list[Any]):
    """A list that loads when it is read."""

    __iter__ = __len__ = __getitem__ = __bool__ = __reversed__ = _refused("LazyList")  # type: ignore[assignment]


class LazyDeque(deque[Any]):
    """A queue that loads when it is read."""

    __iter__ = __len__ = __getitem__ = _refused("LazyDeque")  # type: ignore[assignment]


class Fielded(tuple[Any, ...]):
    """A tuple that says that it has fields."""

    _fields = _raising("Fielded._fields")


class TooManyFields(tuple[Any, ...]):
    """A tuple with more names than values."""

    _fields = ("a", "b", "c")


class Key:
    """A key whose text raises."""

    __repr__ = _refused("Key.__repr__")  # type: ignore[assignment]


class Word(str):
    """A text that has a text of its own."""

    __repr__ = __str__ = __format__ = __eq__ = _refused("Word")  # type: ignore[assignment]
    __hash__ = str.__hash__


class Loaded(types.ModuleType):
    """A module that loads when it is asked for anything."""

    def __getattribute__(self, name: str) -> Any:
        return _refused(f"Loaded.{name}")()


class Colour(enum.IntEnum):
    """Numbers with names."""

    RED = 1


@dataclass
class Config:
    """A data class with what such classes have."""

    name: str = "x"
    sizes: list[int] = field(default_factory=lambda: [1, 2])


@dataclass(frozen=True, slots=True)
class Frozen:
    """A data class with slots."""

    name: str = "x"


class Frame(np.ndarray[Any, Any]):
    """An array with code of its own."""

    def __array_finalize__(self, other: object) -> None:
        pass

    __eq__ = __bool__ = __len__ = __iter__ = __getitem__ = _refused("Frame")  # type: ignore[assignment]


def _cyclic() -> list[Any]:
    held: list[Any] = [1]
    held += [held, {"self": held}]
    return held


def _deep() -> list[Any]:
    held: list[Any] = []
    for _ in range(5000):
        held = [held]
    return held


def _generator() -> Iterator[int]:
    TOUCHED.append("generator")
    yield 1


async def _coroutine() -> None:
    TOUCHED.append("coroutine")


def _lazy_module() -> types.ModuleType:
    """The kind of module that the standard library loads at its first look-up; the look-up fails."""
    spec = importlib.util.spec_from_loader("not_there", loader=None)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    module.__class__ = Loaded
    return module


def _collected() -> Any:
    return weakref.proxy(type("Gone", (), {})())


def _closed() -> socket.socket:
    connection = socket.socket()
    connection.close()
    return connection


def _function() -> Callable[[], None]:
    def never_assigned() -> None:
        print(late)

    if not TOUCHED:
        return never_assigned
    late = 1
    return never_assigned


KINDS: dict[str, Callable[[], Any]] = {
    # what has no attributes, or those of another value
    "union": lambda: Sequence[int] | None,
    "alias": lambda: list[int],
    "typing alias": lambda: typing.Optional[dict[str, int]],  # noqa: UP045
    "type variable": lambda: typing.TypeVar("T"),
    "not implemented": lambda: NotImplemented,
    "ellipsis": lambda: ...,
    "namespace": lambda: types.SimpleNamespace(a=1),
    "arguments": lambda: argparse.Namespace(a=1),
    "mapping proxy": lambda: types.MappingProxyType({"a": 1}),
    "compiled pattern": lambda: re.compile("a"),
    "path": lambda: Path("x"),
    "slots": Slotted,
    "one slot": OneSlot,
    "data class": Config,
    "frozen data class": Frozen,
    "enum": lambda: Colour.RED,
    "enum class": lambda: Colour,
    "named tuple": lambda: namedtuple("Point", "x y")(1, 2),
    # what runs code where it is looked at
    "every method raises": _class("Every"),
    "getattr raises": _class("Getattr", __getattr__=_refused("__getattr__")),
    "getattribute raises": Unbound,
    "class raises": Claiming,
    "dict raises": WithoutFields,
    "no module": Misplaced,
    "properties raise": _class("Properties", weight=_raising("weight"), shape=_raising("shape")),
    "metaclass raises": lambda: Refusing,
    "class of a metaclass": lambda: object.__new__(Refusing),
    "class that is called": lambda: _class("Called"),
    # containers
    "lazy dict": lambda: Lazy(a=[1]),
    "lazy ordered dict": lambda: LazyOrdered(a=[1]),
    "lazy list": lambda: LazyList([[1]]),
    "lazy deque": lambda: LazyDeque([[1]]),
    "counted": lambda: Counter("abc"),
    "user dict": lambda: UserDict(a=1),
    "user list": lambda: UserList([1]),
    "chain": lambda: ChainMap({"a": 1}),
    "fields raise": lambda: Fielded((1,)),
    "too many fields": lambda: TooManyFields(([],)),
    "keys raise": lambda: {Key(): [1], (1, Key()): [2]},
    "text key": lambda: {Word("a"): [1]},
    "number key": lambda: {Colour.RED: [1]},
    "cyclic": _cyclic,
    "deep": _deep,
    "large": lambda: [[i] for i in range(LONG)],
    "large dict": lambda: {i: i for i in range(LONG)},
    "set of values": lambda: {1, "a", None},
    # what stands for another object, or for nothing any more
    "mock": lambda: mock.MagicMock(name="model"),
    "mock that raises": lambda: mock.MagicMock(side_effect=RuntimeError),
    "sealed mock": lambda: mock.seal(m := mock.Mock()) or m,
    "weak proxy": _collected,
    "weak reference": lambda: weakref.ref(Config),
    "lazy module": _lazy_module,
    "context variable": lambda: contextvars.ContextVar("v"),
    "partial": lambda: functools.partial(_refused("partial"), [1], key=[2]),
    "cached": lambda: functools.lru_cache(_refused("cached")),
    "dispatched": lambda: functools.singledispatch(_refused("dispatched")),
    "method": lambda: Config().__repr__,
    "closure": _function,
    # what waits for somebody
    "lock": threading.Lock,
    "thread": threading.Thread,
    "local": threading.local,
    "closed socket": _closed,
    "stream": lambda: sys.stdin,
    "generator": _generator,
    # arrays with code
    "array of objects": lambda: np.array([Config(), None], object),
    "kind of array": lambda: np.zeros(3).view(Frame),
    "memory": lambda: memoryview(b"abc"),
}
"""Kind -> makes a value of it."""


def all_of_them() -> dict[str, Any]:
    """Return a value of each kind."""
    return {kind: make() for kind, make in KINDS.items()}


CHOSEN: list[str] = []
"""The kinds that a script gets where it asks for :func:`chosen`."""


def chosen() -> dict[str, Any]:
    """Return a value of each chosen kind under a name of Python."""
    return {"value_of_" + kind.replace(" ", "_"): KINDS[kind]() for kind in CHOSEN}
