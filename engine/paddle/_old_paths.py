"""Modules of Paddle without a file, made when they are imported: their names live elsewhere.

A row says whose names such a module offers. What its successors lack is refused in the module's own name.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from . import _lazy, _recorded
from ._old_paths_table import ROWS

if TYPE_CHECKING:
    from importlib.abc import Loader
else:  # only the methods count
    Loader = object

HOMES: dict[str, tuple[str, ...]] = {}
"""Module -> the modules whose names it offers, in the order in which they are asked."""

for _parent, _children, _homes in ROWS:
    for _child in _children.split():
        HOMES[f"gradtool.paddle.{_parent}.{_child}".replace("..", ".")] = tuple(
            f"gradtool.paddle.{h}".rstrip(".") for h in _homes.split()
        )


class OldPathFinder(Loader):
    """Finds the modules of the table, and makes them."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not _lazy.old_path(fullname):
            return None
        return ModuleSpec(fullname, self, is_package=not _lazy.is_of_tables(fullname) or fullname in _lazy.SUBMODULES)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        fill(module)


finder = OldPathFinder()


def fill(module: ModuleType) -> None:
    """Give a module of the table its ``__getattr__`` and ``__dir__``, and let its name stay that of a function."""
    path = module.__name__
    if _lazy.is_of_tables(path):
        attached, listed = _lazy.attach(path)
        public = path.replace("gradtool.paddle", "paddle", 1)
        module.__dict__.update(__getattr__=attached, __dir__=listed, __doc__=f"``{public}``.")
        return
    package, _, last = path.rpartition(".")
    settle(package, last)
    own, own_names = _lazy.attach(path)

    homes = HOMES.get(path, ())

    def names() -> list[str]:
        if _recorded.is_module(path):
            return own_names()  # and those that are recorded
        offered = {*own_names()}
        for home in homes:
            offered |= {n for n in _lazy.own_names(importlib.import_module(home)) if not n.startswith("_")}
        return sorted(offered)

    def get(name: str) -> Any:
        if name == "__all__":
            return sorted({*names(), *_recorded.of(path).public})
        if name.startswith("__"):
            raise AttributeError(name)
        if name in own_names() or name in _lazy.PRIVATE.get(path, {}) or f"{path}.{name}" in HOMES:
            return own(name)
        for home in homes:
            successor = importlib.import_module(home)
            if name in _lazy.own_names(successor) or name in _lazy.PRIVATE.get(home, {}):
                value = module.__dict__[name] = getattr(successor, name)
                return value
        return _lazy.fallback(path, name, names)

    module.__dict__.update(__getattr__=get, __dir__=names, __doc__=f"Names of {', '.join(homes) or path}.")


def settle(package: str, name: str) -> None:
    """See that *name* of *package* stays what it is, if it is no module."""
    parent = sys.modules[package]
    value = getattr(parent, name, None)
    if value is not None and not isinstance(value, ModuleType):
        parent.__dict__[name] = value
        _lazy.SETTLED.setdefault(package, set()).add(name)
