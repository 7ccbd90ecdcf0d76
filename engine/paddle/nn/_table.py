"""Layers that hold nothing but the settings of the function that computes them, made from a line each."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

from . import functional as F
from ._second_names_of_parts import named_here, second_name
from .layer import Layer

REQUIRED = inspect.Parameter.empty
"""Stands for the default of a setting that has none."""


class TableLayer(Layer):
    """``function`` names what computes it, ``shown`` the settings of its text form, ``kept`` their attributes.

    Settings are attributes, under Paddle's names, and every call reads them: code that changes one is heard.
    """

    function: ClassVar[str]
    shown: ClassVar[tuple[str, ...]]
    kept: ClassVar[dict[str, str]]
    second_settings: ClassVar[dict[str, str]]

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__()
        bound = self.__signature__.bind(*args, **named_here(named, self.second_settings))
        bound.apply_defaults()
        for setting, value in bound.arguments.items():
            setattr(self, self.kept[setting], value)

    def _setting(self, name: str) -> Any:
        return getattr(self, self.kept[name])

    def forward(self, *inputs: Any, **named: Any) -> Any:
        settings = {setting: getattr(self, attribute) for setting, attribute in self.kept.items()}
        function = getattr(F, self.function)
        if named:
            named = named_here(named, _second_inputs(function))
        return function(*inputs, **named, **settings)

    def extra_repr(self) -> str:
        name = self._setting("name")
        shown = {n: self._setting(n) for n in self.shown} | ({"name": name} if name else {})
        return ", ".join(f"{n}={v}" for n, v in shown.items())


def _second_inputs(function: Any) -> dict[str, str]:
    """Second names of the function's operands, unless it has an operand of that name itself."""
    own = inspect.signature(function).parameters
    return {other: first for other, first in SECOND_INPUTS.items() if first in own and other not in own}


SECOND_INPUTS = {"input": "x", "x1": "x", "x2": "y"}


def table_layer(
    module: str,
    name: str,
    function: str,
    *,
    shows: tuple[str, ...] | None = None,
    prefix: str = "",
    renamed: dict[str, str] | None = None,
    second: dict[str, str] | None = None,
    doc: str = "",
    **settings: Any,
) -> Any:
    """The layer *name* of ``paddle.nn.functional.<function>``.

    Args:
        module: where it is defined.
        shows: the settings of its text form; all of them, and its name, when None.
        prefix: what the attributes that hold the settings start with.
        renamed: setting -> attribute, where that is another.
        second: further names of attributes, each with the one that it stands for.
        doc: what it computes.
        settings: the arguments that it keeps for the function, with their defaults; ``REQUIRED`` for none.
    """
    parameters = [
        inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=v)
        for n, v in {**settings, "name": None}.items()
    ]
    kept = {n: prefix + n for n in (*settings, "name")} | (renamed or {})
    attributes = {attribute: setting for setting, attribute in kept.items()}
    members = {
        "function": function,
        "shown": tuple(settings) if shows is None else shows,
        "kept": kept,
        "second_settings": {other: attributes[first] for other, first in (second or {}).items()},
        "__doc__": f"{doc or 'A layer'}: ``paddle.nn.functional.{function}`` of what it is given.",
        "__module__": module,
        "__signature__": inspect.Signature(parameters),
        **{other: second_name(first) for other, first in (second or {}).items()},
    }
    return type(name, (TableLayer,), members)
