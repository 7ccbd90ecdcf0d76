"""Arguments of a call, as far as the function's program depends on them."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ir.variable import Variable
from gradtool.paddle.static._input_spec import InputSpec

from ...engine.core.identity import identity

_SIMPLE = (int, float, str, bytes, bool, complex, type(None))


class NotBound(UsageError, TypeError):
    """Arguments that the function does not take, or too few of them (Paddle raises ValueError)."""


class _TensorLeaf(NamedTuple):
    shape: tuple[int, ...]
    dtype: Any
    stop_gradient: bool


class _Other:
    """A Python value: equal to another one if the values are, or, of objects of no simple type, if it is the same."""

    __slots__ = ("_key", "_value")

    def __init__(self, value: Any) -> None:
        simple = isinstance(value, _SIMPLE)
        self._key = (type(value), repr(value)) if simple else identity(value)
        self._value: Any = value
        if not simple:
            try:
                self._value = weakref.ref(value)
            except TypeError:  # a type without weak references
                self._value = value

    @property
    def value(self) -> Any:
        return self._value() if isinstance(self._value, weakref.ref) else self._value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Other) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


class _Nest(NamedTuple):
    """A list, tuple or dict of leaves."""

    kind: type
    keys: tuple[Any, ...]
    entries: tuple[Any, ...]


class Signature(NamedTuple):
    """Arguments of a call.

    Attributes:
        args, kwargs: leaves and nests of leaves.
        training: whether the layer that the function belongs to was in training.
    """

    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]
    training: bool | None


def signature(args: Sequence[Any], kwargs: Mapping[str, Any], instance: Any) -> Signature:
    """Return the signature of a call."""
    training = getattr(instance, "training", None)
    return Signature(tuple([_leaf(a) for a in args]), tuple([(k, _leaf(v)) for k, v in kwargs.items()]), training)


def _leaf(value: Any) -> Any:
    if isinstance(value, Tensor):
        return _TensorLeaf(value.array.shape, value.array.dtype, value.stop_gradient)
    if isinstance(value, np.ndarray):
        return _TensorLeaf(value.shape, value.dtype, True)
    if isinstance(value, dict):
        return _Nest(dict, tuple(value), tuple([_leaf(v) for v in value.values()]))
    if type(value) in (list, tuple):
        return _Nest(type(value), (), tuple([_leaf(v) for v in value]))
    return _Other(value)


def described(leaf: Any) -> Any:
    """*leaf* as a caller would write it: an ``InputSpec`` for a tensor, anything else as it was."""
    if isinstance(leaf, _TensorLeaf):
        return InputSpec(list(leaf.shape), dtype_of(leaf.dtype), stop_gradient=leaf.stop_gradient)
    if isinstance(leaf, _Nest):
        entries = [described(e) for e in leaf.entries]
        return dict(zip(leaf.keys, entries, strict=True)) if leaf.kind is dict else leaf.kind(entries)
    return leaf.value


def specified(function: Callable[..., Any], specs: Sequence[Any], name: str) -> Signature:
    """The signature that *specs* describe, for the parameters of *function* in order.

    Raises:
        ArgumentTypeError: *specs* is no list or tuple (a TypeError).
        UsageError: there are more of them than parameters (a ValueError).
    """
    check_specs(specs)
    try:
        inspect.signature(function).bind_partial(*specs)
    except TypeError as error:
        raise UsageError(f"input_spec of {name} does not fit its parameters: {error}.") from None
    return Signature(tuple([_Spec(s) for s in specs]), (), None)


class _Spec:
    """Description of an argument: an ``InputSpec``, a tensor, an array, or a nest of them."""

    __slots__ = ("_key", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self._key = repr(_plain(value))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Spec) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def _plain(value: Any) -> Any:
    if isinstance(value, (Tensor, np.ndarray)):
        return ("tensor", list(value.shape), str(value.dtype))
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value


def check_specs(specs: Any) -> None:
    """Raise :class:`ArgumentTypeError` unless *specs* is a list or tuple."""
    if not isinstance(specs, (list, tuple)):
        raise ArgumentTypeError(
            f"The type(input_spec) should be one of (tuple, list), but received {type(specs).__name__}."
        )


def bound(function: Callable[..., Any], called: Signature, name: str) -> inspect.BoundArguments:
    """The arguments of a call by the names of parameters, with ``InputSpec`` in the place of tensors.

    Raises:
        NotBound: a parameter has no value (a ValueError and a TypeError).
    """
    args = [a.value if isinstance(a, _Spec) else described(a) for a in called.args]
    kwargs = {k: described(v) for k, v in called.kwargs}
    try:
        arguments = inspect.signature(function).bind(*args, **kwargs)
    except TypeError as error:
        raise NotBound(f"`{name}` cannot be called so: {error}.", hint="describe its inputs by input_spec") from None
    arguments.apply_defaults()
    return arguments


class SignatureInputs:
    """Makes variables that are fed of what describes them.

    Attributes:
        variables: those made, in order.
    """

    def __init__(self) -> None:
        self.variables: list[Variable] = []
        self._names: dict[str, int] = {}

    def of(self, name: str, value: Any) -> Any:
        """*value* with a variable in the place of every spec, tensor and array."""
        if isinstance(value, (Tensor, np.ndarray)):
            stops = value.stop_gradient if isinstance(value, Tensor) else True
            value = InputSpec(list(value.shape), dtype_of(value.dtype), stop_gradient=stops)
        if isinstance(value, InputSpec):
            return self._data(value.name or name, value)
        if isinstance(value, dict):
            return type(value)((k, self.of(f"{name}_{k}", v)) for k, v in value.items())
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*(self.of(f"{name}_{f}", v) for f, v in zip(value._fields, value, strict=True)))
        if isinstance(value, (list, tuple)):
            return type(value)(self.of(f"{name}_{i}", v) for i, v in enumerate(value))
        return value

    def _data(self, name: str, spec: InputSpec) -> Variable:
        from gradtool.paddle.static import data

        count = self._names.get(name, 0)
        self._names[name] = count + 1
        variable: Variable = data(f"{name}_{count}" if count else name, list(spec.shape), spec.dtype)
        variable.stop_gradient = spec.stop_gradient
        self.variables.append(variable)
        return variable
