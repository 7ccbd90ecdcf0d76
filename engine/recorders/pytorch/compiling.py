"""Code that the program has PyTorch compile runs as it stands while a program is recorded: compiled code tells nothing.

PyTorch has a stance for that, ``force_eager``: its own wrappers, names and attributes stay, and nothing is compiled.
The program may ask for another stance, and is told that it has it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.abc import Loader
from importlib.machinery import PathFinder
from typing import Any

from ..recorded import events
from ..recorded.patched_names import PatchedNames
from ..recorded.recorder import FrameworkRecorder

_COMPILER = "torch._dynamo.eval_frame"
_SETTING = "torch._dynamo.decorators"
"""The module in which the program's ``set_stance`` calls the compiler's."""

_EAGER = "force_eager"


@contextmanager
def hold_compiler(recorder: FrameworkRecorder, names: PatchedNames) -> Iterator[None]:
    """Have what is compiled inside run as it stands, also where the compiler is imported later."""
    loaded = sys.modules.get(_COMPILER)
    if loaded is not None:
        _stand_in(recorder, names, loaded)
        yield
        return
    finder = _Finder(lambda module: _stand_in(recorder, names, module))
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def _stand_in(recorder: FrameworkRecorder, names: PatchedNames, module: Any) -> None:
    """Hold the compiler's stance, and note what it would have compiled."""
    stance = module._stance
    wanted = [stance]

    def set_stance(chosen: Any) -> Any:
        prior, wanted[0] = wanted[0], chosen
        return prior

    def callback_of(callback: Any) -> Any:
        if callable(callback) and wanted[0].stance != _EAGER and not recorder.quiet and _makes_others(module, callback):
            recorder.flush()
            recorder.sink(events.Uncompiled(recorder.site()))
        return None

    for owner in (module, sys.modules.get(_SETTING)):
        if owner is not None:
            names.put(owner, "_set_stance", set_stance)
    names.put(module, "_callback_from_stance", callback_of)
    names.put(module, "_stance", type(stance)(_EAGER))


def _makes_others(module: Any, callback: Callable[..., Any]) -> bool:
    """Return whether a compiler makes other operators: ``backend="eager"`` runs those of the program."""
    backend = module.innermost_backend(callback)
    return getattr(backend, "compiler_name", getattr(backend, "__name__", "")) != "eager"


class _Finder:
    """Finds the module of the compiler as everybody does, and hands it on when it was executed."""

    def __init__(self, executed: Callable[[Any], None]) -> None:
        self._executed = executed

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the spec of that module, of no other one."""
        if name != _COMPILER:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._executed)
        return spec


class _Loader(Loader):
    """Loads a module as another loader does."""

    def __init__(self, loader: Any, executed: Callable[[Any], None]) -> None:
        self._loader, self._executed = loader, executed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: Any) -> Any:
        """Create it."""
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        """Execute it, and hand it on."""
        self._loader.exec_module(module)
        self._executed(module)
