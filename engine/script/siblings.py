"""The modules that lie beside a model are the model's own: they are there while it is, and two models share none.

``python train.py`` starts with no module but Python's. In a process that has loaded another model before, or that has
imported a module of the same name itself, :data:`sys.modules` would answer the model's ``import nets`` with a file that
is not beside it, or with what another run has left in it.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import PathFinder
from types import ModuleType


@contextmanager
def apart(folder: str, installed: Sequence[str], never: Collection[str]) -> Iterator[None]:
    """Inside, no module that lies beside the model has been imported before; afterwards, none is left.

    What stood in :data:`sys.modules` under the names of such modules stands there again. Installed packages stay.

    Args:
        folder: where the model lies.
        installed: the folders of installed packages.
        never: first parts of names that are never a model's.
    """
    folder = os.path.abspath(folder)
    importlib.invalidate_caches()  # a file may have been written since its folder was looked through
    before = dict(sys.modules)
    beside = {top for top in _names_in_common(folder).difference(never) if _stands_in(top, folder, installed)}
    hidden = [name for name in before if name.partition(".")[0] in beside] if beside else []
    for name in hidden:
        del sys.modules[name]
    try:
        yield
    finally:
        _forget(folder, installed, never, before)
        sys.modules.update({name: before[name] for name in hidden})


def _forget(folder: str, installed: Sequence[str], never: Collection[str], before: dict[str, ModuleType]) -> None:
    """Take out the model's own modules; what stood under their names stands there again."""
    if sys.modules == before:  # nothing was imported, as nearly always: one look at thousands of names
        return
    others = {os.path.abspath(p) for p in installed} - {folder}
    paths = {os.path.abspath(p) for p in sys.path}
    fresh = [n for n, module in sys.modules.items() if before.get(n) is not module]
    tops = {n.partition(".")[0]: n for n in reversed(fresh)}
    # A package without a file of its own looks its folders up in those around it: all of them are still there.
    own = {
        top
        for top, name in tops.items()
        if top not in never and _is_own(sys.modules.get(top, sys.modules[name]), folder, paths, others)
    }
    for name in fresh:
        if name.partition(".")[0] in own:
            del sys.modules[name]
            if name in before:
                sys.modules[name] = before[name]


def _names_in_common(folder: str) -> set[str]:
    """The first parts of the names of imported modules that something in the folder is called, too.

    Where a module is imported, the packages that it is in are imported, too: no name needs to be taken apart.
    """
    try:
        entries = os.listdir(folder)
    except OSError:
        return set()
    return {entry.partition(".")[0] for entry in entries} & sys.modules.keys()


def _stands_in(top: str, folder: str, installed: Sequence[str]) -> bool:
    """Return whether a model in *folder* finds the module of that name there."""
    spec = PathFinder.find_spec(top, [folder, *installed])
    return spec is not None and any(where == folder for where in _places(spec.origin, spec.submodule_search_locations))


def _is_own(module: ModuleType, folder: str, paths: set[str], others: set[str]) -> bool:
    """Return whether a module comes from below the model's folder, or from *paths*; what comes from *others*
    does not.
    """
    places = _places(getattr(module, "__file__", None), getattr(module, "__path__", None))
    if not places:
        return True
    inside = (p in paths or p == folder or p.startswith(folder + os.sep) for p in places)
    return any(inside) and others.isdisjoint(places)  # an environment may lie in the model's folder


def _places(file: str | None, folders: Sequence[str] | None) -> list[str]:
    """The folders that a module was found in; none for one that was made by hand."""
    if folders is not None:
        return [os.path.dirname(os.path.abspath(p)) for p in folders]
    return [] if file is None else [os.path.dirname(os.path.abspath(file))]
