"""Second names of attributes and arguments of layers, those that other libraries use."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])


def second_name(first: str) -> Any:
    """A property that is another attribute, to read and to set."""
    return property(lambda layer: getattr(layer, first), lambda layer, value: setattr(layer, first, value))


def named_here(named: dict[str, Any], second: dict[str, str]) -> dict[str, Any]:
    """*named* arguments under their first names: *second* has a first one for each second one.

    An argument that comes under both names stays under both, for the method to refuse.
    """
    return {second[n] if n in second and second[n] not in named else n: v for n, v in named.items()}


def also_by(**second: str) -> Callable[[Method], Method]:
    """A method that takes arguments by second names as well: ``also_by(input="x")``."""

    def decorated(method: Method) -> Method:
        @functools.wraps(method)
        def call(self: Any, *args: Any, **named: Any) -> Any:
            return method(self, *args, **(named_here(named, second) if named else named))

        return call  # type: ignore[return-value]

    return decorated
