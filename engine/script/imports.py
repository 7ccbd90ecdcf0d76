"""Imports while a command runs: what is gradtool's own never comes from where a model lies.

``python model.py`` puts the folder of ``model.py`` before all others, so that a ``json.py`` there takes the place of
Python's for whoever imports ``json`` next. A command imports much of its own only when it needs it, also after a model
has begun to run. So there are two kinds of imports here, of modules that Python brings or that gradtool is built on
(:data:`PACKAGES`):

* the model's own import statements find what lies beside it first, as under ``python model.py``;
* all others (gradtool's, and those of Python and of packages) find what was installed before the command began: never
  what lies beside a model, in the current folder, or where a model has put something on ``sys.path``.

Where the two differ, both modules exist, and :data:`sys.modules` holds the model's while the model imports. All other
names are found by everybody in the usual way. Of ``PYTHONPATH`` all that it names counts as installed. What a model
imports from its own folder goes when the model goes (:mod:`.siblings`).
"""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

PACKAGES = frozenset(
    {
        *("click", "colorama", "IPython", "prompt_toolkit", "wcwidth"),
        *("rich", "pygments", "markdown_it", "mdurl", "linkify_it", "mdit_py_plugins", "attr", "attrs", "ipywidgets"),
        *("numpy", "threadpoolctl", "ml_dtypes", "numba", "llvmlite", "cupy", "graphviz", "pygraphviz", "google"),
        *("nbformat", "traitlets", "fastjsonschema", "jupyter_core", "platformdirs", "typing_extensions"),
        *("jsonschema", "jsonschema_specifications", "referencing", "rpds", "requests", "fqdn", "idna", "isoduration"),
        *("jsonpointer", "rfc3339_validator", "rfc3986_validator", "rfc3987", "rfc3987_syntax", "uri_template"),
        *("webcolors", "org"),
        *("dask", "distributed", "tornado", "msgpack", "zict", "tblib", "toolz", "cytoolz", "tlz", "cloudpickle"),
        *("sortedcontainers", "psutil", "locket", "partd", "fsspec", "yaml", "jinja2", "markupsafe", "urllib3"),
        *("pyarrow", "zarr", "numcodecs", "donfig", "google_crc32c", "packaging"),
        *("jax", "jaxlib", "jax_plugins", "jax_cuda12_plugin", "jax_cuda13_plugin", "jax_rocm60_plugin"),
        *("jax_rocm10_plugin", "jax_oneapi_plugin"),
        *("jax_rocm7_plugin", "opt_einsum", "scipy", "etils", "zstandard", "cloudpickle", "web_pdb", "libtpu"),
        *("nvidia", "compression", "flatbuffers", "filelock"),
    }
)
"""What gradtool imports beside Python's own modules, and what these import in turn, if it is there or not.

``org`` is Jython's, which ``pickle`` looks for.
"""

_AT_START = frozenset(
    {
        *("__main__", "_collections_abc", "_distutils_hack", "abc", "codecs", "encodings", "genericpath", "io"),
        *("ntpath", "os", "posixpath", "site", "sitecustomize", "stat", "usercustomize", "zipimport"),
    }
)
"""What Python has imported before it looks at ``model.py``: nothing beside that takes its place."""

_OURS = frozenset({"gradtool", "paddle"})

_PROTECTED = (sys.stdlib_module_names | PACKAGES) - _AT_START - set(sys.builtin_module_names)

_NOBODYS = _OURS | _AT_START | sys.stdlib_module_names | PACKAGES
"""What no model has to itself in :data:`sys.modules`."""


def is_protected(name: str) -> bool:
    """Return whether all but a model find the module of that name where it is installed."""
    return name in _PROTECTED or name.startswith("_sysconfigdata_")  # the platform is a part of that name


@contextmanager
def guard_imports() -> Iterator[_Guard]:
    """Import what is gradtool's own from where it is installed; inside another such block, that one counts."""
    there = next((finder for finder in sys.meta_path if isinstance(finder, _Guard)), None)
    if there is not None:
        yield there
        return
    guard = _Guard()
    sys.meta_path[:] = [guard if finder is PathFinder else finder for finder in sys.meta_path]
    try:
        yield guard
    finally:
        sys.meta_path[:] = [PathFinder if finder is guard else finder for finder in sys.meta_path]


@contextmanager
def model_imports(folder: str, absent: list[str] | None = None) -> Iterator[None]:
    """Let a model import what lies in *folder*, and have that to itself; the empty name is the current folder.

    Args:
        absent: takes the names of packages that the model goes on without (:mod:`.absent_packages`).
    """
    from . import siblings

    with guard_imports() as guard:
        path, usual = list(sys.path), builtins.__import__
        statements = _Statements(guard, usual, absent if absent is not None else [])
        builtins.__import__ = statements.carry_out
        sys.path.insert(0, folder)
        try:
            with siblings.apart(folder, guard.installed, _NOBODYS):
                yield
        finally:
            sys.path[:] = path
            builtins.__import__ = usual


class _Guard:
    """Finds modules in folders, in place of Python's ``PathFinder``; protected ones where they are installed.

    Attributes:
        installed: the folders that were searched before there was a model.
        importing: the names that a model is importing, for which it has its own modules.
        awaited: by the name of a module, what is done with it when it has been imported.
        origins: by the name of a module that was found, its file.
    """

    def __init__(self) -> None:
        self.installed = _package_path()
        self.importing: set[str] = set()
        self.awaited: dict[str, Callable[[ModuleType], None]] = {}
        self.origins: dict[str, str] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module, or None."""
        if (
            path is None
            and (name in _PROTECTED or (name[0] == "_" and is_protected(name)))
            and name not in self.importing
        ):
            path = self.installed
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.origin is not None:
            self.origins[name] = spec.origin
        return _follow(spec, self.awaited[name]) if name in self.awaited else spec

    def __getattr__(self, name: str) -> Any:
        return getattr(PathFinder, name)


def _follow(spec: ModuleSpec | None, act: Callable[[ModuleType], None]) -> ModuleSpec | None:
    """A spec whose module is handed to *act* after it was executed."""
    if spec is None or spec.loader is None:
        return spec
    execute = spec.loader.exec_module

    def execute_and_act(module: ModuleType) -> None:
        execute(module)
        act(module)

    spec.loader.exec_module = execute_and_act  # type: ignore[method-assign]  # this loader is of this module alone
    return spec


class _Statements:
    """Import statements: the model's own find the model's modules."""

    def __init__(self, guard: _Guard, usual: Callable[..., ModuleType], absent: list[str]) -> None:
        import sysconfig

        self._absent = absent
        self._guard = guard
        self._usual = usual
        self._modules: dict[str, dict[str, ModuleType]] = {}
        self._looked: dict[tuple[str, ...], bool] = {}
        paths = sysconfig.get_paths()
        self._packages = tuple({paths[k] + os.sep for k in ("stdlib", "platstdlib", "purelib", "platlib")})

    def carry_out(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """As ``__import__``, which import statements call."""
        importer = (globals or {}).get("__name__", "")
        if name in _OURS or (isinstance(importer, str) and importer.startswith("gradtool.")):
            # What gradtool imports is never the model's, and neither is what that imports in turn.
            before, builtins.__import__ = builtins.__import__, self._usual
            try:
                return self._usual(name, globals, locals, fromlist or (), level)
            finally:
                builtins.__import__ = before
        top = name if not level else str((globals or {}).get("__package__") or "")
        top = top.partition(".")[0]
        if is_protected(top) and top not in self._guard.importing and self._is_models(globals) and self._is_there(top):
            with self._exchange(top):
                return self._usual(name, globals, locals, fromlist or (), level)
        try:
            return self._usual(name, globals, locals, fromlist or (), level)
        except ModuleNotFoundError as error:
            if level or top != (error.name or "").partition(".")[0] or not self._is_models(globals):
                raise
            from . import absent_packages

            if not absent_packages.stands_in(error, sys._getframe(1)):
                raise
            self._absent += [top] if top not in self._absent else []
            return absent_packages.module(name, fromlist)  # type: ignore[return-value]  # as far as statements look at it

    def _is_models(self, globals: Mapping[str, Any] | None) -> bool:
        """Return whether a module with these names is the user's own: neither gradtool's, nor Python's, nor a
        package's.
        """
        name, file = (globals or {}).get("__name__"), (globals or {}).get("__file__")
        if not isinstance(name, str) or not isinstance(file, str):
            return False
        return name.partition(".")[0] != "gradtool" and not file.startswith(self._packages)

    def _is_there(self, top: str) -> bool:
        """Return whether a model finds another module of that name than gradtool does."""
        key = top, *sys.path
        if key not in self._looked:
            models = PathFinder.find_spec(top, sys.path)
            installed = PathFinder.find_spec(top, self._guard.installed)
            self._looked[key] = models is not None and (installed is None or models.origin != installed.origin)
        return self._looked[key]

    @contextmanager
    def _exchange(self, top: str) -> Iterator[None]:
        """Have the model's modules of that name in place of the installed ones."""
        installed = _take_modules(top)
        sys.modules.update(self._modules.get(top, {}))
        self._guard.importing.add(top)
        try:
            yield
        finally:
            self._modules[top] = _take_modules(top)
            sys.modules.update(installed)
            self._guard.importing.discard(top)


def _take_modules(top: str) -> dict[str, ModuleType]:
    """The modules of that name and below it, taken out of :data:`sys.modules`."""
    names = [n for n in sys.modules if n == top or n.startswith(f"{top}.")]
    return {n: sys.modules.pop(n) for n in names}


def _package_path() -> list[str]:
    """``sys.path`` without the current folder, which Python puts there by itself (``-c``, ``-m``, notebooks)."""
    try:
        here = os.getcwd()
    except OSError:  # it has been deleted
        return [p for p in sys.path if p]
    named = {os.path.abspath(p) for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p}
    return [p for p in sys.path if p and (os.path.abspath(p) != here or here in named)]
