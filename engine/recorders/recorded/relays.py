"""Calls of a framework that warn at the line of the script, though a recorder makes them.

What is written in C warns at the innermost frame of Python: by its file, line and module, which say once whether a
warning was shown before. Such a frame is made here for each line of a script.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FrameType, FunctionType
from typing import Any

from ...core.identity import identity

Relay = Callable[[Callable[..., Any], Sequence[Any], Mapping[str, Any]], Any]
"""Calls a function with arguments, named ones last."""

_relays: dict[tuple[CodeType, int, int], Relay] = {}


def _call(function: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any]) -> Any: return function(*args, **named)  # fmt: skip  # noqa: E501  # all of it stands in one line, which becomes the script's


def relay(frame: FrameType) -> Relay:
    """Return what calls as if *frame* did, in the line where it stands."""
    key = frame.f_code, frame.f_lasti, identity(frame.f_globals)
    known = _relays.get(key)
    if known is None:
        whose = frame.f_code
        line = frame.f_lineno or whose.co_firstlineno
        code = _call.__code__.replace(co_filename=whose.co_filename, co_firstlineno=line, co_name=whose.co_name)
        known = _relays[key] = FunctionType(code, frame.f_globals)
    return known


def wrap_relay(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return *original* as a stand-in calls it: it warns where that was called."""

    @functools.wraps(original)
    def call(*args: Any, **named: Any) -> Any:
        return relay(sys._getframe(2))(original, args, named)

    return call


def forget() -> None:
    """Forget every line, and the names of the scripts that they stand in."""
    _relays.clear()
