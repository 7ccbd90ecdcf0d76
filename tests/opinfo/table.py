"""Operators of PyTorch by the names of its sample generators, and the same calls in Paddle's names.

An adapter takes the package and the arguments as PyTorch's function has them. Where Paddle has no such option it raises
``Lacks``, where Paddle documents another result ``Differs``; both say what.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

Adapter = Callable[..., Any]
ADAPTERS: dict[str, Adapter] = {}


class Lacks(Exception):
    """Paddle has no such option."""


class Differs(Exception):
    """Paddle documents something else."""


def adapter(*names: str) -> Callable[[Adapter], Adapter]:
    """The call of these operators."""

    def put(function: Adapter) -> Adapter:
        for name in names:
            assert name not in ADAPTERS, name
            ADAPTERS[name] = function
        return function

    return put


def found(paddle: Any, path: str) -> Any:
    return reduce(getattr, path.split("."), paddle)


def named(names: str, within: str = "", **renamed: str) -> None:
    """Functions whose positional arguments are the same in both; those given by name are *renamed*.

    A word is the name in both, or ``theirs=ours``.
    """
    for word in names.split():
        theirs, _, ours = word.partition("=")
        _named(theirs, f"{within}{ours or theirs.rpartition('.')[2]}", renamed)


def _named(theirs: str, path: str, renamed: dict[str, str]) -> None:
    @adapter(theirs)
    def _(paddle: Any, *args: Any, **named: Any) -> Any:
        return found(paddle, path)(*args, **{renamed.get(n, n): v for n, v in named.items()})


def needs(what: Any, words: str) -> None:
    """Paddle lacks it unless *what* holds."""
    if not what:
        raise Lacks(words)


def is_tensor(value: Any) -> bool:
    return hasattr(value, "stop_gradient")
