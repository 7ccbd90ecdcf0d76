"""Calls in rewritten functions: functions of the user's are rewritten too, everything else is called as
it is.
"""

from __future__ import annotations

import functools
import sys
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from gradtool.engine.core import source
from gradtool.engine.core.errors import ArgumentTypeError

from ....engine.core.identity import identity
from . import runtime
from .expressions import RUNTIME
from .rewriting import rewritten
from .sources import like

_left: weakref.WeakSet[Any] = weakref.WeakSet()
"""Functions and classes that stay as they are (``not_to_static``)."""

_ignored: set[str] = set()
"""Names of modules whose functions stay as they are."""

_rewritten: dict[int, tuple[types.CodeType, types.CodeType | None]] = {}
"""By the identity of a code object, which is held, its rewritten form; None where there is none."""

_LIBRARIES = {"numpy", *sys.stdlib_module_names} - {"__main__"}


def leave(function: Any) -> None:
    """Let *function* be as it is from now on."""
    _left.add(function)


def ignore(modules: Iterable[Any]) -> None:
    """Let the functions of *modules* be as they are from now on.

    Raises:
        ArgumentTypeError: an entry is no module (a TypeError).
    """
    for module in modules:
        if not isinstance(module, types.ModuleType):
            raise ArgumentTypeError(f"ignore_module takes a list of modules, but there is a {type(module).__name__}.")
        _ignored.add(module.__name__)


def converted(function: Any) -> Any:
    """*function* as a trace calls it: rewritten if it is the user's, and as it is otherwise."""
    if isinstance(function, types.FunctionType):
        return _function(function)
    if isinstance(function, types.MethodType):
        own = converted(function.__func__)
        return function if own is function.__func__ else types.MethodType(own, function.__self__)
    if isinstance(function, functools.partial):
        own = converted(function.func)
        return function if own is function.func else functools.partial(own, *function.args, **function.keywords)
    python = getattr(function, "__jit_python__", None)
    if python is not None and not isinstance(function, type):
        return function if is_left(function) else converted(python)
    if isinstance(function, type):
        return function
    call = next((vars(c)["__call__"] for c in type(function).__mro__ if "__call__" in vars(c)), None)
    if isinstance(call, types.FunctionType) and not is_library(call.__module__):
        return types.MethodType(converted(call), function)
    return function


def is_left(function: Any) -> bool:
    """Return whether *function* is marked to stay as it is."""
    try:
        return function in _left
    except TypeError:  # what has no hash was never marked
        return False


def is_library(module: str | None) -> bool:
    """Return whether functions of a module are not the user's."""
    name = module or ""
    first = name.partition(".")[0]
    return source.is_ours(name) or first in _LIBRARIES or any(name == m or name.startswith(f"{m}.") for m in _ignored)


def _function(function: types.FunctionType) -> Any:
    if is_left(function) or RUNTIME in function.__code__.co_freevars:
        return function
    if is_library(function.__globals__.get("__name__", "")):
        return _around(function)
    code = function.__code__
    entry = _rewritten.get(identity(code))
    if entry is None:
        entry = _rewritten[identity(code)] = code, rewritten(function)
    if entry[1] is None:
        return function
    return like(function, entry[1], **{RUNTIME: runtime})


def _around(wrapper: types.FunctionType) -> Callable[..., Any]:
    """A library's wrapper of a function of the user's, as ``no_grad`` makes it, around the rewritten function."""
    inner = getattr(wrapper, "__wrapped__", None)
    names = wrapper.__code__.co_freevars
    held = [c.cell_contents for c in wrapper.__closure__ or ()]
    places = [name for name, value in zip(names, held, strict=True) if value is inner]
    own = converted(inner) if inner is not None and places else inner
    if own is inner:
        return wrapper
    return like(wrapper, wrapper.__code__, **dict.fromkeys(places, own))
