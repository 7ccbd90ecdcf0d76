"""The operators that have been defined in this process, by the name that rules use and the type that programs use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.errors import OperatorError

if TYPE_CHECKING:
    from .opdef import OpDef

by_name: dict[str, OpDef] = {}
by_type: dict[str, OpDef] = {}


def register(op: OpDef) -> None:
    """Make *op* known; called by the ``op`` decorator.

    Raises:
        OperatorError: there is one of that name or type.
    """
    if op.name in by_name or op.type in by_type:
        raise OperatorError(f"operator {op.name!r} (type {op.type!r}) is defined twice")
    by_name[op.name] = op
    by_type[op.type] = op
