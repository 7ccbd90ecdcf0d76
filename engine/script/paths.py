"""Names of tensors for people: the way to them from a name, through layers, containers, closures and objects of their
own.

``net.fc1.weight``, ``blocks[2].weight``, ``params['b1']``, ``nets['enc'][0].bias``, ``trainer.model.head.bias``.
No code of the user's runs on the way (:mod:`.attributes`).
"""

from __future__ import annotations

import sys
import sysconfig
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np

from gradtool.paddle.nn import Layer

from ..core.identity import identity
from ..core.value import AnyTensor
from ..eager.tensor import Tensor
from .attributes import (
    bases,
    class_fields,
    entries,
    field,
    field_names,
    fields,
    is_a,
    members,
    module_of,
    qualified_name,
    slots,
)

_DEEPEST = 8
"""Steps from a name to a tensor; those from a layer to one inside it do not count."""

_MOST = 100_000
"""Objects that are looked into, from one scope."""

_MANY = 1_000
"""What a container of more entries holds is looked into last: data, as a rule."""

_Entries = Iterable[tuple[str, Any]]


def container(path: str, values: Mapping[str, Any]) -> str:
    """The plain list, tuple or dict of a Layer through which *path* leads, such as ``net.blocks``; empty if none does.

    Args:
        values: what *path* starts from, by name.
    """
    steps = path.partition("[")[0].split(".")
    if "[" not in path or steps[0] not in values:
        return ""
    owner = values[steps[0]]
    for step in steps[1:-1]:
        owner = _attribute(owner, step)
    held = _attribute(owner, steps[-1])
    return ".".join(steps) if is_a(owner, Layer) and is_a(held, (list, tuple, dict)) else ""


def _attribute(owner: Any, name: str) -> Any:
    """Return what an object holds under a name, or a layer among its layers; None where there is nothing."""
    held = fields(owner)
    return held[name] if name in held else dict(entries(held.get("_sub_layers"))).get(name)


def is_users(module: str) -> bool:
    """Return whether the module of that name is the user's own: neither gradtool's, nor Python's, nor an
    installed one.
    """
    if module.partition(".")[0] in _FOREIGN:
        return False
    file = field(sys.modules.get(module), "__file__")
    return type(file) is str and not file.startswith(_INSTALLED)


def _rank(name: str, value: Any, last: Collection[str]) -> tuple[bool, int, int]:
    """Return the rank of a name: larger layers first, then as :func:`_kind` says."""
    return name in last, _kind(value), -_size(value)


def _size(value: Any) -> int:
    """Return how many layers a layer holds, with itself; 0 for all else."""
    todo, seen = [value] if is_a(value, Layer) else [], set()
    while todo:
        layer = todo.pop()
        if identity(layer) not in seen:
            seen.add(identity(layer))
            todo += [inner for _, inner in entries(field(layer, "_sub_layers")) if is_a(inner, Layer)]
    return len(seen)


def _kind(value: Any) -> int:
    """Layers first, then tensors, then what holds some; last what lists tensors that others hold, as optimizers ask."""
    if is_a(value, Layer):
        return 0
    if is_a(value, AnyTensor):
        return 1
    listed = is_a(value, (list, tuple)) and field_names(value) is None
    return 3 if listed and all(is_a(v, AnyTensor) for v in members(value)) else 2


class Walk:
    """The ways to tensors from one name after the other, each object looked into once."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._closures: dict[str, Any] = {}

    def tensors(self, values: Mapping[str, Any], last: Collection[str] = ()) -> Iterator[tuple[str, AnyTensor]]:
        """Path and tensor of every tensor that can be reached from *values*, and could not before.

        Of several layers that hold one parameter the outermost gives the path, as it is the one that people mean; then
        come the tensors that have a name themselves.

        Args:
            last: names that are used where there is no other way: those that loops give, one after the other.
        """
        named = [(n, v) for n, v in values.items() if not n.startswith("__") and _may_hold(v)]
        named.sort(key=lambda entry: _rank(entry[0], entry[1], last))
        todo = [(path, value, 0) for path, value in reversed(named)]
        first = len(self._seen)
        while todo and len(self._seen) - first < _MOST:
            path, value, depth = todo.pop()
            if identity(value) in self._seen:
                continue
            self._seen.add(identity(value))
            if is_a(value, AnyTensor):
                # What is on the tape: of a sparse tensor its values.
                yield path, value.carrier if is_a(value, Tensor) else value
            elif depth < _DEEPEST:
                further = depth if is_a(value, Layer) else depth + 1
                inside = [(p, v, further) for p, v in self._entries_within(path, value) if _may_hold(v)]
                at = 0 if len(inside) > _MANY else len(todo)
                todo[at:at] = reversed(inside)

    def _entries_within(self, path: str, value: Any) -> _Entries:
        """Yield the contents of *value*, with the path to it."""
        kind = next((k for k in _WAYS if is_a(value, k)), None)
        if kind is FunctionType:
            return self._function_entries(path, value)
        return _object_entries(path, value) if kind is None else _WAYS[kind](path, value)

    def _function_entries(self, path: str, function: FunctionType) -> Iterator[tuple[str, Any]]:
        """Yield the values that a function closes over, called after the function whose local it is; then its defaults
        and attributes.

        Of a function that was made twice, the second is called after whoever holds it.
        """
        outer, nested, _ = function.__qualname__.rpartition(".<locals>.")
        owner = outer.replace(".<locals>", "") if nested else path
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            inside = f"{owner}.{name}"
            if self._closures.setdefault(inside, cell) is not cell:
                inside = f"{path}.{name}"
            try:
                yield inside, cell.cell_contents
            except ValueError:  # empty: nothing has been assigned yet
                continue
        yield from ((f"{path}.{n}", v) for n, v in (function.__kwdefaults__ or {}).items())
        yield from _default_entries(path, function)
        yield from ((f"{path}.{n}", v) for n, v in fields(function).items())


def _layer_entries(path: str, layer: Layer) -> Iterator[tuple[str, Any]]:
    """Parameters and layers of a layer, then what it holds without knowing: plain lists, tensors, dicts, functions."""
    held = fields(layer)
    for part in _HELD:
        yield from ((f"{path}.{n}", v) for n, v in entries(held.get(part)))
    yield from ((f"{path}.{n}", v) for n, v in held.items() if n not in _HELD)
    yield from _class_entries(type(layer))


def _sequence_entries(path: str, values: Collection[Any]) -> _Entries:
    names, held = field_names(values), members(values)
    if names is not None:
        return [(f"{path}.{n}", v) for n, v in zip(names, held, strict=True)]
    if all(issubclass(kind, _PLAIN) for kind in set(map(type, held))):
        return ()  # a million numbers of a data set are not looked at one by one
    return [(f"{path}[{i}]", v) for i, v in enumerate(held)]


def _dict_entries(path: str, values: Mapping[Any, Any]) -> _Entries:
    return [(f"{path}[{key!r}]", v) for key, v in entries(values)]


def _partial_entries(path: str, call: partial[Any]) -> Iterator[tuple[str, Any]]:
    function, arguments, keywords = (vars(partial)[n].__get__(call) for n in ("func", "args", "keywords"))
    yield f"{path}.func", function
    yield from _sequence_entries(f"{path}.args", arguments)
    yield from _dict_entries(f"{path}.keywords", keywords)


def _default_entries(path: str, function: FunctionType) -> _Entries:
    defaults = function.__defaults__ or ()
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return [(f"{path}.{n}", v) for n, v in zip(names[len(names) - len(defaults) :], defaults, strict=True)]


def _class_entries(kind: type) -> Iterator[tuple[str, Any]]:
    """Attributes of a class of the user's own, and of those that it is derived from: not its functions."""
    for base in bases(kind):
        if is_users(module_of(base)):
            owner = qualified_name(base).replace(".<locals>", "")
            yield from ((f"{owner}.{n}", v) for n, v in class_fields(base).items() if not _is_method(n, v))


def _is_method(name: str, value: Any) -> bool:
    return name.startswith("__") or is_a(value, (FunctionType, staticmethod, classmethod, property, *_DESCRIPTORS))


def _object_entries(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The attributes of an object whose class is the user's own, or that has nothing but attributes."""
    kind = type(value)
    if not is_users(module_of(kind)):
        if module_of(kind) in _NAMESPACES:
            yield from ((f"{path}.{n}", v) for n, v in fields(value).items())
        return
    attributes = fields(value)
    for base in bases(kind):
        attributes |= slots(value, base)
    yield from sorted(
        ((f"{path}.{n}", v) for n, v in attributes.items() if not n.startswith("__")), key=lambda entry: _kind(entry[1])
    )
    yield from _class_entries(kind)


def _may_hold(value: Any) -> bool:
    return not is_a(value, _PLAIN)


_PLAIN = (str, bytes, int, float, complex, np.ndarray, np.generic, ModuleType, type(None))
"""What holds no tensor."""


_WAYS: dict[type, Callable[[str, Any], _Entries]] = {
    Layer: _layer_entries,
    list: _sequence_entries,
    tuple: _sequence_entries,
    deque: _sequence_entries,
    dict: _dict_entries,
    FunctionType: lambda path, value: (),
    MethodType: lambda path, value: [(f"{path}.__self__", value.__self__), (path, value.__func__)],
    partial: _partial_entries,
    type: lambda path, value: _class_entries(value),
}
"""Kind of object -> what it holds, with the path to it."""

_HELD = ("_parameters", "_sub_layers", "_buffers")
"""Attributes of a layer whose entries are told by name."""

_DESCRIPTORS = (GetSetDescriptorType, MemberDescriptorType)
"""What stands in a class for ``__slots__``."""

_NAMESPACES = frozenset({"types", "argparse"})
"""Where classes come from that have nothing but attributes: ``SimpleNamespace``, ``Namespace``."""

_FOREIGN = frozenset({"builtins", "gradtool"})
_INSTALLED = tuple({sysconfig.get_paths()[k] for k in ("stdlib", "platstdlib", "purelib", "platlib")})
