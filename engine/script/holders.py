"""Holders of a file's tensors: its module, functions that were running, other modules of the user's."""

from __future__ import annotations

import dis
import linecache
import os
import sys
from collections.abc import Iterator, Mapping
from types import CodeType, ModuleType
from typing import Any, Final

from ..core import source
from ..core.value import AnyTensor
from .attributes import field, fields
from .calls import PassCall
from .paths import Walk, is_users
from .script_state import Loaded

_OURS: Final = ("gradtool.", "paddle.")
"""Beginnings of the names under which gradtool's modules are imported."""

_foreign: dict[str, ModuleType] = {}
"""Installed modules and gradtool's, which are never the user's, by the names under which they were seen."""


def ways(left: Loaded, values: Mapping[str, Any], meant: PassCall | None) -> Iterator[tuple[str, str, AnyTensor]]:
    """Function, path from a name in it, and tensor, for every tensor that is held by a name; each tensor once.

    Args:
        values: the names of the module.
        meant: the backward pass that is asked about.
    """
    walk = Walk()
    scopes = [] if meant is None else [scope for scope in meant.names if scope.function]
    yield from (("", path, t) for path, t in walk.tensors(values, _module_loop_names(left)))
    for scope in scopes:
        yield from ((scope.function, path, t) for path, t in walk.tensors(scope.values, loop_names(scope.code)))
    for name in _modules(left):
        names = fields(sys.modules[name])
        yield from (("", f"{name}.{path}", t) for path, t in walk.tensors(names))


def loop_names(code: CodeType) -> frozenset[str]:
    """The names that a function gives inside its loops, to one value after the other."""
    steps = list(dis.get_instructions(code))
    loops = [(s.argval, s.offset) for s in steps if s.opname.startswith("JUMP_BACKWARD")]
    stored = [s for s in steps if s.opname in ("STORE_NAME", "STORE_FAST", "STORE_GLOBAL", "STORE_DEREF")]
    return frozenset(s.argval for s in stored if any(first <= s.offset <= last for first, last in loops))


def _module_loop_names(left: Loaded) -> frozenset[str]:
    text = "".join(linecache.getlines(left.namespace.get("__file__", "")))
    try:
        return loop_names(compile(text, "", "exec", dont_inherit=True))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()  # a notebook, or no Python


def _modules(left: Loaded) -> list[str]:
    """Return the names of the user's own modules that lie next to the file, or that made parameters."""
    key = len(sys.modules), len(left.births)
    if key not in left.modules:
        left.modules[key] = _users_modules(left)
    return [name for name in left.modules[key] if name in sys.modules]


def _users_modules(left: Loaded) -> list[str]:
    file = left.namespace.get("__file__") or ""
    folder = os.path.dirname(file)
    made_in = {place[0] for place in (source.file_and_line(birth.loc) for birth in left.births) if place}
    beside = folder + os.sep
    names = []
    # Thousands of modules where a large library is loaded: those that were seen before cost one look into a table.
    for name, module in list(sys.modules.items()):
        if _foreign.get(name) is module:
            continue
        own = field(module, "__file__")
        if name.startswith(_OURS) or (type(own) is str and not is_users(name)):
            _foreign[name] = module
        elif type(own) is str and own != file and (own in made_in or (folder and own.startswith(beside))):
            names.append(name)
    return sorted(names)
