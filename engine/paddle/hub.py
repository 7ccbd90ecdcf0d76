"""``paddle.hub``: models of a folder that has a ``hubconf.py``; nothing is taken from the network.

Every public function of ``hubconf.py`` is a model; ``dependencies`` is a list of packages that it needs.
"""

from __future__ import annotations

import builtins
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from gradtool.engine.core.errors import FileMissing, NotFound, UnsupportedError, UsageError, did_you_mean
from gradtool.paddle import _lazy

__all__ = ["help", "list", "load", "load_state_dict_from_url"]

FILE = "hubconf.py"
SOURCES = ("github", "gitee", "local")


class MissingDependency(NotFound, RuntimeError):
    """A package that a ``hubconf.py`` needs and that is not installed (Paddle raises RuntimeError)."""


class NoEntry(NotFound, RuntimeError):
    """A model that a ``hubconf.py`` does not have (Paddle raises RuntimeError)."""


class NoNetwork(UnsupportedError, RuntimeError):
    """Something that would have to be downloaded."""


def list(repo_dir: str, source: str = "github", force_reload: bool = False) -> builtins.list[str]:
    """The names of the models of a folder.

    Args:
        repo_dir: the folder that has ``hubconf.py``.
        source: ``"local"``.
        force_reload: accepted for compatibility; the file is read at every call.

    Raises:
        NoNetwork: another source (a RuntimeError).
        FileMissing: there is no ``hubconf.py`` (a FileNotFoundError).
    """
    return [*_entries(_module(repo_dir, source))]


def help(repo_dir: str, model: str, source: str = "github", force_reload: bool = False) -> str | None:
    """Return the docstring of a model's function.

    Raises:
        NoEntry: there is no such model (a RuntimeError).
        MissingDependency: a package that the file needs is not installed (a RuntimeError).

    Other errors are those of :func:`list`.
    """
    doc: str | None = _entry(_module(repo_dir, source), model).__doc__
    return doc


def load(repo_dir: str, model: str, source: str = "github", force_reload: bool = False, **kwargs: Any) -> Any:
    """Return the result of a model's function, which is called with *kwargs*; raises as :func:`help` does."""
    return _entry(_module(repo_dir, source), model)(**kwargs)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    check_hash: bool = False,
    file_name: str | None = None,
    map_location: str | None = None,
) -> Any:
    """The parameters in the file that *url* names, from the cache of weights or *model_dir*.

    Raises:
        FileMissing: it is not there (a FileNotFoundError); the message says where to put it.
    """
    from gradtool.paddle import _saving
    from gradtool.paddle.utils import download

    folder = Path(model_dir) if model_dir is not None else download.cache()
    path = folder / (file_name or url.split("?")[0].rsplit("/", 1)[-1])
    if not path.is_file():
        raise FileMissing(f"{path} does not exist, and gradtool downloads nothing.", hint=f"download {url} there")
    return _saving.load(str(path))


def _module(repo_dir: str, source: str) -> ModuleType:
    """The module of a folder's ``hubconf.py``."""
    if source not in SOURCES:
        raise UsageError(
            f"Unknown source: {source!r}. Allowed values: {' | '.join(map(repr, SOURCES))}.",
            hint=did_you_mean(str(source), SOURCES),
        )
    if source != "local":
        raise NoNetwork(
            f"paddle.hub: {repo_dir!r} would be downloaded from {source}, and gradtool downloads nothing.",
            hint="clone the repository and pass its folder, with source='local'",
        )
    path = Path(repo_dir) / FILE
    if not path.is_file():
        raise FileMissing(f"paddle.hub: there is no {FILE} in {repo_dir}.", hint="pass the folder that has it")
    spec = importlib.util.spec_from_file_location(f"hubconf of {repo_dir}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))  # it imports its neighbours
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module


def _entries(module: ModuleType) -> dict[str, Any]:
    return {n: v for n, v in vars(module).items() if callable(v) and not n.startswith("_")}


def _entry(module: ModuleType, model: str) -> Any:
    if not isinstance(model, str):
        raise UsageError("Invalid input: model should be a str of function name")
    lacking = [p for p in getattr(module, "dependencies", ()) if importlib.util.find_spec(p) is None]
    if lacking:
        raise MissingDependency(f"Missing dependencies: {', '.join(lacking)}", hint="install them with pip")
    entries = _entries(module)
    if model not in entries:
        raise NoEntry(f"Cannot find callable {model} in hubconf", hint=did_you_mean(model, [*entries]))
    return entries[model]


__getattr__ = _lazy.refuse(__name__, globals())
