"""The name that an instruction has in what is traced of it, and back: XLA keeps it for all that becomes of it.

Instructions of blocks stand within that of their operator: ``jit(f)/op3:while/while/body/op1:tanh/tanh``.
"""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from typing import Any

import jax

Path = tuple[int, ...]
"""The index of an instruction in its plan, behind those of the operators in whose blocks it stands."""

_SCOPE = re.compile(r"(?:^|[/(])op(\d+):")


def scope(index: int, op: Any) -> AbstractContextManager[None]:
    """Inside, what is traced belongs to the instruction of that index."""
    return jax.named_scope(f"op{index}:{'recorded' if op is None else op.type}")


def path(name: str) -> Path:
    """Return the instruction that an operation of XLA belongs to, by its name; empty where it is nobody's."""
    return tuple(map(int, _SCOPE.findall(name.partition(";")[0])))
