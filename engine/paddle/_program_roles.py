"""``paddle.distributed.fleet.meta_optimizers.common``: what part of a training an operator of a program is."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from gradtool.engine.ir import roles

OP_ROLE_KEY = "op_role"
OP_ROLE_VAR_KEY = "op_role_var"


class OpRole(IntEnum):
    """The numbers that the attribute ``op_role`` is made of."""

    Forward = 0
    Backward = 1
    Optimize = 2
    RPC = 4
    Dist = 8
    LRSched = 16
    Loss = 256


def _role(op: Any) -> int:
    return int(op.attr(OP_ROLE_KEY)) if op.has_attr(OP_ROLE_KEY) else int(getattr(op, "role", roles.FORWARD))


def is_backward_op(op: Any) -> bool:
    """Return whether the operator computes a gradient."""
    return bool(_role(op) & OpRole.Backward)


def is_optimizer_op(op: Any) -> bool:
    """Return whether the operator belongs to an update."""
    return bool(_role(op) & OpRole.Optimize)


def is_loss_grad_op(op: Any) -> bool:
    """Return whether the operator makes the gradient of a loss."""
    return _role(op) == OpRole.Backward | OpRole.Loss
