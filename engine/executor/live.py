"""Counting what is alive while a plan runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ir.operator import Operator
from .plan import Plan


@dataclass(frozen=True, slots=True)
class Peak:
    """Where a run holds most.

    Attributes:
        nbytes: of all values and gradients alive after that operator, its inputs included. A buffer that several of
            them share counts once; what is fed, parameters, and what a kernel uses inside do not count.
        op: the operator, or None for a run without any.
    """

    nbytes: int
    op: Operator | None


def peak(plan: Plan, regs: list[Any]) -> Peak:
    """Carry out *plan* and find where most bytes are alive; the same number in every run on the same shapes."""
    given = [root(r) for r in regs if r is not None]
    foreign = {id(r) for r in given}
    buffers: dict[int, Any] = {}
    users: dict[int, int] = {}
    alive = most = 0
    where: Operator | None = None
    for step in plan.instructions:
        with np.errstate(all="ignore"):
            result = step.kernel(*[regs[i] for i in step.ins])
        for r, value in zip(step.outs, result if step.spread else (result,), strict=True):
            regs[r] = value
            if value is None:
                continue
            buffer = root(value)
            key = id(buffer)
            if key not in foreign:
                if key not in users:
                    alive += nbytes(buffer)
                users[key] = users.get(key, 0) + 1
                buffers[r] = buffer  # kept, so that its identity is not given to another
        if alive > most:
            most, where = alive, step.op or where
        for r in step.dead:
            regs[r] = None
            done = buffers.pop(r, None)
            if done is None:
                continue
            users[id(done)] -= 1
            if not users[id(done)]:
                del users[id(done)]
                alive -= nbytes(done)
    return Peak(most, where)


def root(value: Any) -> Any:
    """The array that owns the storage of *value*; what is no array (rows of a table) owns its own."""
    while isinstance(value, np.ndarray) and isinstance(value.base, np.ndarray):
        value = value.base
    return value


def nbytes(value: Any) -> int:
    """Bytes that *value* holds."""
    return int(getattr(value, "nbytes", 0))
