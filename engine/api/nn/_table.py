"""Layers that hold nothing but the settings of the function that computes them, made from a line each."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

from . import functional as F
from .layer import Layer

REQUIRED = inspect.Parameter.empty
"""Stands for the default of a setting that has none."""


class TableLayer(Layer):
    """``function`` names what computes it, ``shown`` the settings of its text form."""

    function: ClassVar[str]
    shown: ClassVar[tuple[str, ...]]

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__()
        bound = self.__signature__.bind(*args, **named)
        bound.apply_defaults()
        self._name = bound.arguments.pop("name")
        self._arguments = dict(bound.arguments)

    def forward(self, *inputs: Any, **named: Any) -> Any:
        return getattr(F, self.function)(*inputs, **named, **self._arguments, name=self._name)

    def extra_repr(self) -> str:
        shown = {n: self._arguments[n] for n in self.shown} | ({"name": self._name} if self._name else {})
        return ", ".join(f"{n}={v}" for n, v in shown.items())


def table_layer(module: str, name: str, function: str, *, shows: tuple[str, ...] | None = None, **settings: Any) -> Any:
    """The layer *name* of ``paddle.nn.functional.<function>``.

    Args:
        module: where it is defined.
        shows: the settings of its text form; all of them, and its name, when None.
        settings: the arguments that it keeps for the function, with their defaults; ``REQUIRED`` for none.
    """
    parameters = [
        inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=v)
        for n, v in {**settings, "name": None}.items()
    ]
    members = {
        "function": function,
        "shown": tuple(settings) if shows is None else shows,
        "__doc__": f"``paddle.nn.functional.{function}`` as a layer.",
        "__module__": module,
        "__signature__": inspect.Signature(parameters),
    }
    return type(name, (TableLayer,), members)
