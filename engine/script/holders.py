"""Who holds the tensors of a file: its module, functions that were running, other modules of the user's."""

from __future__ import annotations

import dis
import linecache
import os
import sys
from collections.abc import Iterator, Mapping
from types import CodeType
from typing import Any

from ..core import source
from ..core.value import AnyTensor
from .attributes import field, fields
from .calls import PassCall
from .loaded import Loaded
from .paths import Walk, is_users


def ways(left: Loaded, values: Mapping[str, Any], meant: PassCall | None) -> Iterator[tuple[str, str, AnyTensor]]:
    """Function, path from a name in it, and tensor, for every tensor that is held by a name; each tensor once.

    Args:
        values: the names of the module.
        meant: the backward pass that is asked about.
    """
    walk = Walk()
    scopes = [] if meant is None else [scope for scope in meant.names if scope.function]
    yield from (("", path, t) for path, t in walk.tensors(values, _looped_in_module(left)))
    for scope in scopes:
        yield from ((scope.function, path, t) for path, t in walk.tensors(scope.values, looped(scope.code)))
    for name in _modules(left):
        names = fields(sys.modules[name])
        yield from (("", f"{name}.{path}", t) for path, t in walk.tensors(names))


def looped(code: CodeType) -> frozenset[str]:
    """The names that a function gives inside its loops, to one value after the other."""
    steps = list(dis.get_instructions(code))
    loops = [(s.argval, s.offset) for s in steps if s.opname.startswith("JUMP_BACKWARD")]
    stored = [s for s in steps if s.opname in ("STORE_NAME", "STORE_FAST", "STORE_GLOBAL", "STORE_DEREF")]
    return frozenset(s.argval for s in stored if any(first <= s.offset <= last for first, last in loops))


def _looped_in_module(left: Loaded) -> frozenset[str]:
    text = "".join(linecache.getlines(left.namespace.get("__file__", "")))
    try:
        return looped(compile(text, "", "exec", dont_inherit=True))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()  # a notebook, or no Python


def _modules(left: Loaded) -> list[str]:
    """The user's own modules that lie beside the file, or that made parameters."""
    file = left.namespace.get("__file__") or ""
    folder = os.path.dirname(file)
    made_in = {place[0] for place in (source.file_and_line(birth.loc) for birth in left.births) if place}
    return [
        name
        for name, module in sorted(sys.modules.items())
        if type(own := field(module, "__file__")) is str
        and own != file
        and (own in made_in or (folder and own.startswith(folder + os.sep)))
        and is_users(name)
    ]
