"""Marking operators that public functions append with what they are for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .program import Block


@contextmanager
def mark(block: Block, role: int, variables: tuple[str, ...] = ()) -> Iterator[None]:
    """Give operators appended to *block* inside that ``op_role`` and ``op_role_var``."""
    first = len(block.ops)
    try:
        yield
    finally:
        for op in block.ops[first:]:
            op.role = role
            op.role_var = variables
