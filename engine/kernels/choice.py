"""Choice of the backend: the folders of this package, the one place that has the default, and the choice of users.

A backend is a package in this folder with a function ``make()`` that returns a
:class:`~gradtool.engine.kernels.backend.Backend`; its name is the folder's. It is loaded when it is first asked for.
Nobody outside this folder names one. Whoever starts something asks for the :func:`current` one, and what was started
goes on with it: an executor has its backend, and so has every call of dynamic mode, the gradient of that call, and a
run that is computed again. Answers that judge a run compute on the :func:`reference`, so that they are the same
whatever ran; differences of a run that a device holds are computed there.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..core import settings
from ..core.errors import BackendError, did_you_mean

if TYPE_CHECKING:
    from .backend import Backend

REFERENCE = "numpy"
CONVOLVING = "onednn"
"""Computes where nobody has chosen, if its extra is installed: the reference with convolutions of other last digits."""
COMPILING = "numba"
"""Compiles plans of these two that have become hot, to the same bits."""
SETTING, DEVICE, PRECISION = "GRADTOOL_BACKEND", "GRADTOOL_DEVICE", "GRADTOOL_PRECISION"
DEFAULT = os.environ.get(SETTING) or REFERENCE
"""What computes where nobody has chosen: what the environment says, else the reference, or what is installed for it."""


class _Process:
    """State that all threads and tasks share.

    Attributes:
        loaded: the backends, by name.
        chosen: the one in use; None until it is first asked for.
    """

    loaded: dict[str, Backend]
    chosen: Backend | None = None


_Process.loaded = {}
_changing: list[Callable[[Backend, Backend], None]] = []


def available() -> list[str]:
    """The names of the backends, sorted."""
    names: set[str] = set()
    for home in sys.modules[__package__].__path__:
        names.update(n for n in os.listdir(home) if os.path.exists(os.path.join(home, n, "__init__.py")))
    return sorted(names)


def backend(name: str) -> Backend:
    """The backend called *name*.

    Raises:
        BackendError: there is none, or what it needs is not installed.
    """
    if name not in _Process.loaded:
        names = available()
        if name not in names:
            hint = did_you_mean(name, names) or f"use {' or '.join(map(repr, names))}"
            raise BackendError(f"backend {name!r} is not part of this version of gradtool", hint=hint)
        _Process.loaded[name] = importlib.import_module(f".{name}", __package__).make()
    return _Process.loaded[name]


def reference() -> Backend:
    """The backend that is always there and that others are compared with; its arrays are NumPy's."""
    return backend(REFERENCE)


def current() -> Backend:
    """The backend of whoever starts something now and names none."""
    if _Process.chosen is None:
        _Process.chosen = _first()
    return _Process.chosen


def _first() -> Backend:
    """Return the default backend. It follows from what is installed, and nothing is loaded for it."""
    if not os.environ.get(SETTING):
        installed = importlib.import_module(f".{CONVOLVING}", __package__).find_backend()
        return when_hot(installed or reference(), "nobody has chosen")
    try:
        return backend(DEFAULT)
    except BackendError as error:
        error.hint = f"{SETTING} in the environment names it; {error.hint}"
        raise


def when_hot(own: Backend, because: str) -> Backend:
    """*own*, a backend of NumPy's arrays, with plans that run often compiled where there is a compiler.

    Args:
        because: why it is the one in use, if it is.
    """
    return importlib.import_module(f".{COMPILING}", __package__).when_hot(own, because)  # type: ignore[no-any-return]


def eager() -> Backend:
    """The backend of tensors of dynamic mode that are computed now: what is current, or what that leaves them to."""
    chosen = current()
    return chosen.eager or chosen


def choose(name: str) -> None:
    """Compute on the backend *name* from now on, in all threads. What was recorded or made before keeps its own.

    Raises:
        BackendError: there is none of that name, or what it needs is not installed.
    """
    _change(backend(name))


def _change(chosen: Backend) -> None:
    before, _Process.chosen = current(), chosen
    if chosen is not before:
        for told in _changing:
            told(before, chosen)


@settings.register_setting
def _as_it_was() -> Callable[[], None]:
    before = _Process.chosen

    def restore() -> None:
        if _Process.chosen is not before:
            _change(_first() if before is None else before)

    return restore


@contextmanager
def use_backend(chosen: str | Backend) -> Iterator[Backend]:
    """Compute on that backend inside."""
    before = current()
    _change(backend(chosen) if isinstance(chosen, str) else chosen)
    try:
        yield current()
    finally:
        _change(before)


def when_chosen(told: Callable[[Backend, Backend], None]) -> Callable[[Backend, Backend], None]:
    """Call ``told(before, now)`` whenever another backend is chosen: for those who remember what one has bound."""
    _changing.append(told)
    return told
