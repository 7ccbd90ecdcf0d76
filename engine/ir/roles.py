"""Roles of operators; roles combine by addition."""

from __future__ import annotations

from typing import Final

FORWARD: Final = 0
BACKWARD: Final = 1
OPTIMIZE: Final = 2
RPC: Final = 4
DIST: Final = 8
LR_SCHED: Final = 16
LOSS: Final = 256
ALL: Final = FORWARD | BACKWARD | OPTIMIZE | RPC | DIST | LR_SCHED | LOSS


def is_forward(role: int) -> bool:
    """Return whether an operator of that role belongs to the forward part."""
    return role in (FORWARD, FORWARD | LOSS)


def is_backward(role: int) -> bool:
    """Return whether an operator of that role belongs to the backward part."""
    return bool(role & BACKWARD)
