"""Passes over the instructions of a plan; each takes a list and returns a new one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any

import numpy as np

from ..core.tensor_array import TensorArray
from ..ir.operator import Operator
from ..kernels.backend import Backend
from ..ops.opdef import Trait
from .plan import Instruction

ALL = frozenset({"prune", "fold", "release_shapes", "free", "accumulate"})
"""Every pass, by name."""

FOLD_LIMIT = 1 << 16
"""Elements beyond which a constant is computed in each run instead of being held by the plan."""

_LIKES = attrgetter("likes")

SHAPE_ALONE = frozenset({0})
"""The likes of what stands for a tensor."""

SMALL = 1 << 12
"""Bytes up to which a tensor that is needed for its shape only is simply kept."""


def prune(code: list[Instruction], needed: Iterable[int]) -> list[Instruction]:
    """Drop instructions whose results nobody needs."""
    live = set(needed)
    rest = []
    for i in reversed(code):
        if i.effect or not live.isdisjoint(i.outs):
            live.update(i.ins)
            rest.append(i)
    rest.reverse()
    return rest


def fold(code: list[Instruction], keep: set[int], backend: Backend) -> tuple[list[Instruction], dict[int, Any]]:
    """Compute instructions that depend on constants only, once.

    Args:
        keep: registers that are written back to the scope; they are not shared between runs.
    """
    constants: dict[int, Any] = {}
    rest = []
    for i in code:
        if i.ins and i.ins[0] not in constants:  # most instructions: this runs for every one
            rest.append(i)
            continue
        depends = any(r not in constants for r in i.ins)
        if depends or keep.intersection(i.outs) or not _foldable(i.op):
            rest.append(i)
            continue
        try:
            with np.errstate(all="ignore"):
                result = i.kernel(*[constants[r] for r in i.ins])
        except Exception:
            rest.append(i)  # it fails when it runs, with a message that names the operator
            continue
        constants.update(zip(i.outs, result if i.spread else (result,), strict=True))
    return rest, constants


def _foldable(op: Operator | None) -> bool:
    """Return whether what *op* makes of constants is constant, and small enough to be held."""
    if op is None or op.op.holds_blocks or op.op.trait & (Trait.RANDOM | Trait.EFFECT):
        return False
    return all(0 <= v.spec.count <= FOLD_LIMIT for v in op.output_variables())


def release_shapes(
    code: list[Instruction], held: set[int], size: int, backend: Backend
) -> tuple[list[Instruction], int]:
    """Let go of tensors that are needed for their shape only, but for those in *held*.

    A gradient operator may read an operand's shape long after its values were last used. After that last use, the
    tensor is replaced by one of the same shape and dtype that occupies a single element.
    """
    ends = _only_shapes_after(code, held)
    if not ends:
        return code, size

    def ghost(x: Any) -> Any:
        if isinstance(x, TensorArray):
            return x.map(ghost)
        return stand_in(x.shape, x.dtype)

    stand_in = _stand_in if backend.xp is np else partial(_zeros_of_one_element, backend.xp)
    replaced: dict[int, int] = {}
    new = []
    for n, i in enumerate(code):
        if i.likes and replaced:
            i.ins = tuple(replaced.get(r, r) for r in i.ins)
        new.append(i)
        for r in ends.get(n, ()):
            replaced[r] = size
            new.append(Instruction(None, ghost, (r,), (size,), SHAPE_ALONE))
            size += 1
    return new, size


def _zeros_of_one_element(xp: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Zeros of that shape that occupy a single element."""
    return xp.broadcast_to(xp.zeros((), dtype), shape)


@lru_cache(maxsize=1 << 10)
def _stand_in(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """The same of NumPy: nobody can write to it, so one serves for all (making it takes 2.5 µs)."""
    return _zeros_of_one_element(np, shape, dtype)


def _only_shapes_after(code: Sequence[Instruction], held: Collection[int]) -> dict[int, list[int]]:
    """By the number of an instruction, the registers whose values nobody reads after it, but their shapes later on."""
    if not any(map(_LIKES, code)):
        return {}
    last_use: dict[int, int] = {}
    last_like: dict[int, int] = {}
    for n, i in enumerate(code):
        last_use.update(dict.fromkeys(i.outs, n))
        for p, r in enumerate(i.ins):
            (last_like if p in i.likes else last_use)[r] = n
    ends: dict[int, list[int]] = {}
    for r, n in last_like.items():
        use = last_use.get(r, n)
        if r not in held and n - use >= 2:  # to the next instruction it may stay what it is
            ends.setdefault(use, []).append(r)
    return ends


def free(code: list[Instruction], held: set[int]) -> list[Instruction]:
    """Note after each instruction the registers that nothing reads any more."""
    seen = set(held)
    for i in reversed(code):
        dead = []
        for r in (*i.ins, *i.outs):
            if r not in seen:
                seen.add(r)
                dead.append(r)
        i.dead = tuple(dead)
    return code
