"""Tensors of frameworks that run in this process beside gradtool: what stands for them on gradtool's tape.

Nothing here imports a framework: one that is not loaded has no tensors that anybody could ask about.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from types import FrameType
from typing import Any

from ..core.identity import identity
from ..core.source import BOUNDARY
from ..core.vocabulary import speak
from ..eager.tensor import Tensor

_RUNNERS = ("_pytest", "pluggy", "unittest", "IPython", "ipykernel")
"""Packages whose frames end what belongs to the user's program."""

_LISTENER = ".pytorch.live"
"""The module that listens to PyTorch, which imports it."""

_live: list[Any] = []


def is_loaded() -> bool:
    """Return whether a framework is loaded whose tensors may be asked about."""
    torch = sys.modules.get("torch")
    return torch is not None and hasattr(torch, "Tensor")


def program() -> Any:
    """Return what listens to PyTorch in this process: one for all questions, so that tensors stay what they were."""
    if not _live:
        _live.append(importlib.import_module(_LISTENER, __package__).LiveTorch())
    return _live[0]


def listen() -> AbstractContextManager[None]:
    """Inside, what a loaded framework computes is played on gradtool's tape."""
    listener: AbstractContextManager[None] = program().listen() if is_loaded() else nullcontext()
    return listener


def pause() -> AbstractContextManager[None]:
    """Inside, nothing is played of what a framework computes, though somebody listens."""
    silence: AbstractContextManager[None] = _live[0].recorder.unheard() if _live else nullcontext()
    return silence


def is_foreign(value: Any) -> bool:
    """Return whether *value* is a tensor of a loaded framework."""
    return is_loaded() and isinstance(value, sys.modules["torch"].Tensor)


def stand_in(value: Any, *, differentiated: bool = True) -> Any:
    """Return the tensor of dynamic mode that stands for a foreign one; any other value as it is.

    Args:
        differentiated: whether gradients are asked for: where no pass was heard, the framework runs one for gradtool.

    Raises:
        LossError: the framework has freed the graph of what is to be differentiated.
    """
    if not is_foreign(value):
        return value
    live = program()
    speak(live.vocabulary)
    live.names(names_of_callers())
    found: Tensor = live.loss(value) if differentiated else live.tensor(value)
    return found


def names(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return *values* with gradtool's tensors and layers in place of those of a loaded framework."""
    translated: Mapping[str, Any] = program().names(values) if is_loaded() else values
    return translated


def names_of_callers() -> dict[str, Any]:
    """Return the variables of the user's functions that are running, and of their modules; the innermost win."""
    scopes: list[Mapping[str, Any]] = []
    modules: dict[int, Mapping[str, Any]] = {}
    for frame in _frames(sys._getframe(1)):
        scopes.append(frame.f_locals)
        modules.setdefault(identity(frame.f_globals), frame.f_globals)
    names: dict[str, Any] = {}
    for scope in (*reversed(list(modules.values())), *reversed(scopes)):
        names |= {n: v for n, v in scope.items() if not n.startswith("_")}
    return names


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    """Return the frames of the user's program, the innermost first."""
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        package = module.partition(".")[0]
        if module == BOUNDARY or package in _RUNNERS:
            return
        if package not in ("gradtool", "torch", "contextlib", "click"):
            yield frame
        frame = frame.f_back
