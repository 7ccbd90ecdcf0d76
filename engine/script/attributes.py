"""Attributes of an object, read without running code of its class: nothing in a user's file is trusted.

A property may raise, ``__getattr__`` may open a connection, ``__class__`` may name another class, ``items`` may load a
file. Everything here goes through the descriptors of Python's own types.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Mapping
from types import GetSetDescriptorType, MemberDescriptorType, ModuleType
from typing import Any, TypeGuard, TypeVar

T = TypeVar("T")

_MRO = type.__dict__["__mro__"]
_CLASS_FIELDS = type.__dict__["__dict__"]
_MODULE = type.__dict__["__module__"]
_NAME = type.__dict__["__name__"]
_QUALNAME = type.__dict__["__qualname__"]
_DESCRIPTORS = (GetSetDescriptorType, MemberDescriptorType)


def is_a(value: Any, kinds: type[T] | tuple[type[T], ...]) -> TypeGuard[T]:
    """Return whether the true class of a value is one of *kinds*; its ``__class__`` may say another one."""
    return issubclass(type(value), kinds)


def bases(kind: type) -> tuple[type, ...]:
    """Return a class and the classes that it is derived from, in the order of look-ups."""
    found: tuple[type, ...] = _MRO.__get__(kind)
    return found


def class_fields(kind: type) -> Mapping[str, Any]:
    """Return what the body of a class holds, by name."""
    found: Mapping[str, Any] = _CLASS_FIELDS.__get__(kind)
    return found


def module_of(kind: type) -> str:
    """Return the name of the module of a class; empty where that is no name."""
    try:
        name = _MODULE.__get__(kind)
    except AttributeError:  # the body of the class has deleted it
        return ""
    return name if type(name) is str else ""


def qualified_name(kind: type) -> str:
    """Return the name of a class with those of the classes and functions around it."""
    name: str = _QUALNAME.__get__(kind)
    return name


def short_name(kind: type) -> str:
    """Return the name of a class itself."""
    name: str = _NAME.__get__(kind)
    return name


def fields(value: Any) -> dict[str, Any]:
    """Return a copy of the attributes that a value holds itself; empty where it has no ``__dict__``."""
    held = _instance_dict(value)
    return {} if held is None else {n: v for n, v in list(dict.items(held)) if type(n) is str}


def field(value: Any, name: str) -> Any:
    """Return one attribute that a value holds itself; None where it has none of that name."""
    held = _instance_dict(value)
    return None if held is None else dict.get(held, name)


def _instance_dict(value: Any) -> dict[Any, Any] | None:
    """Return the ``__dict__`` of a value; None where it has none."""
    if type(value) is ModuleType:  # a thousand of them are looked at again and again
        return value.__dict__
    for kind in bases(type(value)):
        descriptor: Any = class_fields(kind).get("__dict__")
        if type(descriptor) in _DESCRIPTORS:
            held = descriptor.__get__(value)
            return held if is_a(held, dict) else None
    return None


def slots(value: Any, kind: type) -> dict[str, Any]:
    """Return the attributes that a value holds in the ``__slots__`` of *kind*, one of its classes."""
    held: dict[str, Any] = {}
    for name, descriptor in class_fields(kind).items():
        if type(descriptor) is MemberDescriptorType and not name.startswith("__"):
            try:
                held[name] = descriptor.__get__(value)
            except AttributeError:  # nothing has been assigned yet
                continue
    return held


def members(values: Any) -> list[Any]:
    """Return what a list, a tuple or a deque holds."""
    if is_a(values, list):
        return list(list.__iter__(values))
    if is_a(values, tuple):
        return list(tuple.__iter__(values))
    return list(deque.__iter__(values)) if is_a(values, deque) else []


def entries(values: Any) -> list[tuple[Any, Any]]:
    """Return the entries of a dict whose keys have a text of Python's own: texts, numbers, and tuples of these."""
    if not is_a(values, dict):
        return []
    held = list(dict.items(values))
    if is_a(values, OrderedDict) and all(type(key) in _PLAIN for key, _ in held):
        held = [(key, dict.__getitem__(values, key)) for key in OrderedDict.__iter__(values)]
    return [(key, value) for found, value in held if (key := _plain(found)) is not None]


def _plain(key: Any) -> Any:
    """Return a key as a value of Python's own class; None where it is another one."""
    if type(key) in _PLAIN:
        return key
    if is_a(key, str):
        return str.__str__(key)
    if is_a(key, int):
        return int.__index__(key)
    is_short = is_a(key, tuple) and tuple.__len__(key) <= _LONGEST
    return tuple(members(key)) if is_short and all(type(part) in _PLAIN for part in members(key)) else None


_LONGEST = 16
_PLAIN = (str, int, bool, float)


def field_names(values: Any) -> tuple[str, ...] | None:
    """Return the names of the fields of a named tuple; None where a value is none."""
    declared = (class_fields(kind).get("_fields") for kind in bases(type(values)))
    names = next((found for found in declared if found is not None), None)
    if not is_a(values, tuple) or type(names) is not tuple or len(names) != tuple.__len__(values):
        return None
    return names if all(type(n) is str for n in names) else None
