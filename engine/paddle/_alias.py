"""``import paddle`` finds gradtool: a meta-path finder that answers with the same module objects."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

from . import _lazy

if TYPE_CHECKING:
    from importlib.abc import Loader, MetaPathFinder
else:  # only the methods count, and the module of the abstract classes brings a dozen others with it
    Loader = MetaPathFinder = object


class _SameModule(Loader):
    """Loads ``paddle.x`` by handing out ``gradtool.paddle.x``."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.own_spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.own_spec  # the import system has just put the alias's in its place
        if act := module.__dict__.get("when_imported"):
            act()


class AliasFinder(MetaPathFinder):
    """Resolves ``paddle`` and ``paddle.*`` while it is on ``sys.meta_path``."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "paddle" and not fullname.startswith("paddle."):
            return None
        name = "gradtool.paddle" + fullname.removeprefix("paddle")
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name and name.startswith(error.name):
                package, _, last = name.rpartition(".")
                raise ModuleNotFoundError(str(_lazy.missing(package, last, [])), name=fullname) from None
            raise
        return ModuleSpec(fullname, _SameModule(module), is_package=hasattr(module, "__path__"))


class LastResort(MetaPathFinder):
    """Says that gradtool lacks a name when ``from paddle.x import name`` asks for it and nobody else knows it.

    Python looks for a module of that name when the package has no such attribute. Only an error about a *different*
    module gets through to the user, so this one is about ``paddle.x.name`` instead of ``gradtool.paddle.x.name``.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, last = fullname.rpartition(".")
        if not fullname.startswith(("gradtool.paddle.", "paddle.")):
            return None
        if package not in _lazy.packages() and not _lazy.old_path(package):
            return None
        names = _lazy.own_names(sys.modules[package]) if package in sys.modules else []
        public = fullname.replace("gradtool.paddle", "paddle", 1)
        raise ModuleNotFoundError(str(_lazy.missing(package, last, names)), name=public)


_finder = AliasFinder()
_last_resort = LastResort()


def install() -> None:
    """Put the finders in place; raises ImportError when the real paddle is loaded."""
    real = sys.modules.get("paddle")
    if real is not None and real.__name__ != "gradtool.paddle":
        raise ImportError("the real paddle is already imported in this process")
    # Each script that imports it is asked for its mode anew, also where another one has loaded it.
    vars(sys.modules["gradtool.paddle"]).pop("fluid", None)
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
        sys.meta_path.append(_last_resort)


def uninstall() -> None:
    """Take the finders out and forget the aliases."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
        sys.meta_path.remove(_last_resort)
    for name in [n for n in sys.modules if n == "paddle" or n.startswith("paddle.")]:
        del sys.modules[name]


@contextmanager
def active() -> Iterator[None]:
    """``import paddle`` finds gradtool inside."""
    was = _finder in sys.meta_path
    install()
    try:
        yield
    finally:
        if not was:
            uninstall()
