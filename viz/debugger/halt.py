"""Why a run stopped."""

from __future__ import annotations

from gradtool.engine.core.records import dataclass

from .stops import Stop


@dataclass(frozen=True, slots=True)
class Halt:
    """Why a run stopped.

    Attributes:
        why: ``done`` (the steps asked for), ``end``, ``start``, ``break``, ``catch``, ``watch``, ``error``.
        stop: the breakpoint, catch or watch.
        what: what a catch found, what a watched expression was and is.
        error: what an operator raised; the cursor stands before it.
    """

    why: str
    stop: Stop | None = None
    what: str = ""
    error: BaseException | None = None
