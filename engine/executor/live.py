"""Counting what is alive while a plan runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..core.identity import identity
from ..core.records import dataclass
from ..ir.operator import Operator
from .accumulation import split_sums
from .plan import Plan


@dataclass(frozen=True, slots=True)
class Peak:
    """Moment at which a run holds most.

    Attributes:
        nbytes: of all values and gradients alive after that operator, its inputs included. A buffer that several of
            them share counts once; what is fed, parameters, and what a kernel uses inside do not count.
        op: the operator, or None for a run without any.
    """

    nbytes: int
    op: Operator | None


def peak(plan: Plan, regs: list[Any]) -> Peak:
    """Carry out *plan* and find where most bytes are alive; the same number in every run on the same shapes."""
    buffers = _Buffers(regs)
    most = 0
    where: Operator | None = None
    for step in split_sums(plan.instructions):
        with np.errstate(all="ignore"):
            result = step.kernel(*[regs[i] for i in step.ins])
        for r, value in zip(step.outs, result if step.spread else (result,), strict=True):
            regs[r] = value
            if value is not None:
                buffers.hold(r, value)
        if buffers.alive > most:
            most, where = buffers.alive, step.op or where
        for r in step.dead:
            regs[r] = None
            buffers.let_go(r)
    return Peak(most, where)


class _Buffers:
    """The storage behind registers, each buffer counted once.

    Attributes:
        alive: bytes of all that registers hold.

    Args:
        regs: what is there before the first operator; it does not count.
    """

    def __init__(self, regs: Iterable[Any]) -> None:
        self.alive = 0
        self._outside = [root(r) for r in regs if r is not None]  # held, so that no other buffer gets their identity
        self._uncounted = {identity(r) for r in self._outside}
        self._users: Counter[int] = Counter()
        self._by_register: dict[int, Any] = {}

    def hold(self, register: int, value: Any) -> None:
        """*register* holds *value* from now on, in place of what it held."""
        self.let_go(register)
        buffer = root(value)
        key = identity(buffer)
        if key in self._uncounted:
            return
        if not self._users[key]:
            self.alive += nbytes(buffer)
        self._users[key] += 1
        self._by_register[register] = buffer

    def let_go(self, register: int) -> None:
        """Nothing reads *register* any more."""
        buffer = self._by_register.pop(register, None)
        if buffer is None:
            return
        self._users[identity(buffer)] -= 1
        if not self._users[identity(buffer)]:
            self.alive -= nbytes(buffer)


def root(value: Any) -> Any:
    """The array that owns the storage of *value*; what is no array (rows of a table) owns its own."""
    while isinstance(value, np.ndarray) and isinstance(value.base, np.ndarray):
        value = value.base
    return value


def nbytes(value: Any) -> int:
    """Bytes that *value* holds."""
    return int(getattr(value, "nbytes", 0))
