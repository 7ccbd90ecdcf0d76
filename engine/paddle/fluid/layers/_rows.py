"""Functions from rows of a table: what a layer was called and took, and what stands for it today.

The parameters of a row are written as words: ``name``, ``name=default``, and ``name:target`` where the parameter is
called otherwise today. What a target means depends on the row; ``-`` is accepted and has no influence on the result.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError, did_you_mean
from gradtool.engine.core.records import dataclass
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.ir import default
from gradtool.engine.ops import registry
from gradtool.paddle._dispatch import apply
from gradtool.paddle.static._finishing import activated

_REQUIRED = object()


@dataclass(frozen=True, slots=True)
class Argument:
    """One parameter of a layer."""

    name: str
    target: str
    default: Any


def parameters(text: str) -> tuple[Argument, ...]:
    """The parameters that *text* lists."""
    entries = []
    for word in text.split():
        head, equals, value = word.partition("=")
        name, _, target = head.partition(":")
        entries.append(Argument(name, target or name, ast.literal_eval(value) if equals else _REQUIRED))
    return tuple(entries)


def bound(name: str, signature: tuple[Argument, ...], args: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call by parameter, defaults included.

    Raises:
        ArgumentTypeError: too many, unknown, repeated or missing arguments (a TypeError).
    """
    where = f"fluid.layers.{name}({', '.join(map(_shown, signature))})"
    if len(args) > len(signature):
        raise ArgumentTypeError(f"{where} takes at most {len(signature)} arguments, but received {len(args)}.")
    arguments = {p.name: value for p, value in zip(signature, args, strict=False)}
    for key, value in named.items():
        if key in arguments:
            raise ArgumentTypeError(f"{where} received '{key}' twice.")
        if all(p.name != key for p in signature):
            raise ArgumentTypeError(
                f"{where} has no argument '{key}'.", hint=did_you_mean(key, [p.name for p in signature])
            )
        arguments[key] = value
    for p in signature:
        if arguments.setdefault(p.name, p.default) is _REQUIRED:
            raise ArgumentTypeError(f"{where} misses the argument '{p.name}'.")
    return arguments


def _shown(p: Argument) -> str:
    return p.name if p.default is _REQUIRED else f"{p.name}={p.default!r}"


@dataclass(frozen=True, slots=True)
class OperatorLayer:
    """A layer that is one operator.

    Targets are input slots (in capitals, as operators have them), attributes, ``>Out`` for a variable to write to,
    and ``name`` and ``act`` for themselves.

    Attributes:
        type: the operator.
        text: the parameters.
        key: what the layer is counted under; the operator's type when None.
        result: which of several outputs the layer returns; all when None.
        direct: whether a name that the user gives is the result's name itself.
    """

    type: str
    text: str
    key: str | None = None
    result: int | None = 0
    direct: bool = False

    def function(self, name: str) -> Callable[..., Any]:
        """The layer itself, called *name*."""
        signature = parameters(self.text)
        op = registry.get_by_type(self.type)
        slots = {s.name: s.many for s in op.inputs}

        def layer(*args: Any, **named: Any) -> Any:
            arguments = bound(name, signature, args, named)
            operands: dict[str, Any] = {}
            attrs: dict[str, Any] = {}
            outputs: dict[str, Any] = {}
            for p in signature:
                value = arguments[p.name]
                if p.target in slots:
                    single = slots[p.target] and isinstance(value, AnyTensor)
                    operands[p.target] = [value] if single else value
                elif p.target.startswith(">"):
                    if value is not None:
                        outputs[p.target[1:]] = value
                elif p.target in op.defaults and value is not None:
                    attrs[p.target] = value
            asked = arguments.get("name")
            own = asked if asked is not None else default.default_main_program().names(self.key or self.type)
            out = apply(
                self.type,
                *[operands.get(s) for s in slots],
                attrs=attrs,
                name=own,
                direct=self.direct and asked is not None,
                outputs=outputs,
            )
            if isinstance(out, tuple) and self.result is not None:
                out = out[self.result]
            return activated(out, arguments.get("act"), own)

        return _named(layer, name, signature, op.doc)


@dataclass(frozen=True, slots=True)
class RenamedLayer:
    """A layer that is a function of today's.

    Attributes:
        path: the function, such as ``split`` or ``nn.functional.label_smooth``, seen from ``paddle``.
        text: the parameters; targets are the function's own.
    """

    path: str
    text: str

    def function(self, name: str) -> Callable[..., Any]:
        """The layer itself, called *name*."""
        signature = parameters(self.text)
        today: Any = paddle
        for part in self.path.split("."):
            today = getattr(today, part)

        def layer(*args: Any, **named: Any) -> Any:
            arguments = bound(name, signature, args, named)
            return today(**{p.target: arguments[p.name] for p in signature if p.target != "-"})

        return _named(layer, name, signature, today.__doc__ or "")


def _named(layer: Callable[..., Any], name: str, signature: tuple[Argument, ...], doc: str) -> Callable[..., Any]:
    layer.__name__ = layer.__qualname__ = name
    layer.__module__ = "gradtool.paddle.fluid.layers"
    layer.__doc__ = f"{name}({', '.join(map(_shown, signature))})\n\n{doc}"
    return layer
