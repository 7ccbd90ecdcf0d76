"""Contents of a program when it is over: its modules and containers, as gradtool's layers of the same names.

What :class:`Describer` gives is plain data, so that it can stand in a file; :class:`Rebuilder` makes layers, lists and
namespaces of it, with the tensors that stand for the framework's. Names of tensors are then found as in any
other model.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

from gradtool.paddle.nn import Layer

from ...core.identity import identity
from ...eager.parameter import TensorParameter
from ...eager.tensor import Tensor
from ...script.attributes import entries, fields, is_a, members, module_of, short_name
from ...script.paths import is_users

_DEEPEST = 12
"""Steps from a name to a tensor; those from a module to one inside it do not count."""

_DEEPEST_MODULE = 100
"""Modules inside each other that are described: each takes several calls of Python's."""

_MOST = 100_000
_PLAIN = (str, bytes, int, float, complex, type(None))

Described = dict[str, Any]


class KeptTensor(NamedTuple):
    """Facts kept of a tensor that the program may free.

    Attributes:
        number: of the tensor of the framework.
        tensor: stands for it.
    """

    number: int
    tensor: Tensor


class Describer:
    """Describes values, each object once.

    Args:
        number: of a tensor of the framework; None where it was never met.
        tensor, module: the framework's classes.
        parts: the attributes of a module that hold its parameters, inner modules and buffers by name.

    Attributes:
        kept: by number, what was kept of tensors that the program may have freed.
    """

    def __init__(
        self, number: Callable[[Any], int | None], tensor: type, module: type, parts: tuple[str, str, str]
    ) -> None:
        self.objects: list[Described] = []
        self.kept: dict[int, Tensor] = {}
        self._number = number
        self._tensor, self._module = tensor, module
        self._parts = dict(zip(("parameters", "layers", "buffers"), parts, strict=True))
        self._seen: dict[int, int] = {}
        self._held: list[Any] = []
        self._open: set[int] = set()
        self._count = 0
        self._modules = 0
        """Modules that are being described, one inside the other."""

    def names(self, values: Mapping[str, Any]) -> Described:
        """The names of a scope that lead to tensors."""
        found = {n: self.value(v, 0) for n, v in values.items() if isinstance(n, str) and not n.startswith("__")}
        return {n: v for n, v in found.items() if v is not None}

    def value(self, value: Any, depth: int) -> Any:
        """A value; None where nothing in it is a tensor."""
        if type(value) is KeptTensor:
            self.kept[value.number] = value.tensor
            return {"tensor": value.number}
        if is_a(value, self._tensor):
            number = self._number(value)
            return None if number is None else {"tensor": number}
        if is_a(value, _PLAIN) or _holds_plain_values(value):
            return None
        self._count += 1
        if depth > _DEEPEST or self._count > _MOST:
            return None
        if is_a(value, self._module):
            return self._object(value, depth, self._describe_module) if self._modules < _DEEPEST_MODULE else None
        if is_a(value, (list, tuple, deque, dict)):
            return self._container(value, depth)
        kind = type(value)
        if is_a(value, type) or not (is_users(module_of(kind)) or kind is SimpleNamespace):
            return None
        return self._object(value, depth, self._describe_object)

    def _container(self, value: Any, depth: int) -> Any:
        """Return a list or a dict; None where nothing in it is a tensor, and for one that is inside of itself."""
        if identity(value) in self._open:
            return None
        self._open.add(identity(value))
        if is_a(value, dict):
            inside = [[k, self.value(v, depth + 1)] for k, v in entries(value) if isinstance(k, (str, int))]
            inside, form = [e for e in inside if e[1] is not None], "dict"
            is_empty = not inside
        else:
            inside, form = [self.value(v, depth + 1) for v in members(value)], "tuple" if is_a(value, tuple) else "list"
            is_empty = all(v is None for v in inside)
        self._open.discard(identity(value))
        return None if is_empty else {form: inside}

    def _object(self, value: Any, depth: int, describe: Callable[[Any, int, Described], None]) -> Any:
        known = self._seen.get(identity(value))
        if known is None:
            self._held.append(value)
            known = self._seen[identity(value)] = len(self.objects)
            entry: Described = {"class": short_name(type(value))}
            self.objects.append(entry)
            describe(value, depth, entry)
        return {"object": known}

    def _describe_module(self, module: Any, depth: int, entry: Described) -> None:
        entry["layer"] = True
        held = fields(module)
        self._modules += 1
        for part, attribute in self._parts.items():
            entry[part] = {n: self.value(v, depth) for n, v in _entries(held.get(attribute)) if v is not None}
        plain = {n: v for n, v in held.items() if not n.startswith("_")}
        entry["attributes"] = {n: d for n, v in plain.items() if (d := self.value(v, depth + 1)) is not None}
        self._modules -= 1

    def _describe_object(self, value: Any, depth: int, entry: Described) -> None:
        plain = {n: v for n, v in fields(value).items() if not n.startswith("__")}
        entry["attributes"] = {n: d for n, v in plain.items() if (d := self.value(v, depth + 1)) is not None}


def _holds_plain_values(value: Any) -> bool:
    """Return whether a value is a list of numbers or texts: data, of any length."""
    kinds = {*map(type, members(value))}
    return bool(kinds) and all(issubclass(kind, _PLAIN) for kind in kinds)


def _entries(held: Any) -> list[tuple[str, Any]]:
    """Return the entries of a module's table, which is a dict or what the framework has in place of one."""
    if held is None or is_a(held, dict) or is_users(module_of(type(held))):
        return entries(held)
    return list(held.items())


class Rebuilder:
    """Makes values of what :class:`Describer` described.

    Args:
        tensors: by number.
        package: where the modules' classes are from, as far as people are told.
    """

    def __init__(self, objects: list[Described], tensors: Mapping[int, Tensor], package: str) -> None:
        self._package = package
        self._described = objects
        self._tensors = tensors
        self._made: dict[int, Any] = {}
        self._inner: set[int] = set()
        for entry in objects:
            self._inner.update(v["object"] for v in entry.get("layers", {}).values() if v and "object" in v)

    def names(self, described: Described) -> dict[str, Any]:
        """The names of a scope."""
        return {n: self.value(v) for n, v in described.items()}

    def value(self, described: Any) -> Any:
        """One value."""
        if described is None:
            return None
        if "tensor" in described:
            return self._tensors.get(described["tensor"])
        if "object" in described:
            return self._object(described["object"])
        if "dict" in described:
            return {k: self.value(v) for k, v in described["dict"]}
        if "tuple" in described:
            return tuple([self.value(v) for v in described["tuple"]])
        return [self.value(v) for v in described["list"]]

    def _object(self, index: int) -> Any:
        made = self._made.get(index)
        if made is not None:
            return made
        entry = self._described[index]
        if not entry.get("layer"):
            made = self._made[index] = SimpleNamespace()
            vars(made).update(self.names(entry["attributes"]))
            return made
        layer: Any = type(entry["class"], (Layer,), {"__module__": self._package})()
        self._made[index] = layer
        for name, value in entry["parameters"].items():
            tensor = self.value(value)
            if tensor is not None:
                layer._parameters[name] = tensor
        for name, value in entry["layers"].items():
            inside = self.value(value)
            if not isinstance(inside, Layer | None):
                raise TypeError("a layer that is none")
            layer._sub_layers[name] = inside
        for name, value in entry["buffers"].items():
            tensor = self.value(value)
            if tensor is not None:
                layer._buffers[name] = tensor
        vars(layer).update(self.names(entry["attributes"]))
        if index not in self._inner:
            for path, parameter in layer.named_parameters():
                if isinstance(parameter, TensorParameter):
                    parameter.layer_path = path
        return layer
