"""``import paddle`` finds gradtool: a meta-path finder that answers with the same module objects."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from . import _lazy


class _SameModule(Loader):
    """Loads ``paddle.x`` by handing out ``gradtool.x``."""

    def __init__(self, name: str) -> None:
        self.name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return importlib.import_module(self.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


class Finder(MetaPathFinder):
    """Resolves ``paddle`` and ``paddle.*`` while it is on ``sys.meta_path``."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "paddle" and not fullname.startswith("paddle."):
            return None
        name = "gradtool" + fullname.removeprefix("paddle")
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name and name.startswith(error.name):
                package, _, last = name.rpartition(".")
                raise ModuleNotFoundError(str(_lazy.missing(package, last, [])), name=fullname) from None
            raise
        # The import system rewrites __spec__ and friends of what a loader returns; put the module in place instead.
        sys.modules[fullname] = module
        spec = ModuleSpec(fullname, _SameModule(name), is_package=hasattr(module, "__path__"))
        return spec


_finder = Finder()


def install() -> None:
    """Put the finder first; raises ImportError when the real paddle is loaded."""
    real = sys.modules.get("paddle")
    if real is not None and real.__name__ != "gradtool":
        raise ImportError("the real paddle is already imported in this process")
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


def uninstall() -> None:
    """Take the finder out and forget the aliases."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
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
