"""Facts that gradient operators of one definition share, worked out once for a million of them."""

from __future__ import annotations

from ..ops.opdef import GradientRule, OpDef


class GradientForm:
    """Layout of the gradient operator of a definition with a rule.

    Attributes:
        rule: the rule.
        wrt: the places of the inputs that it gives gradients for.
        outs: the places of the outputs whose gradients it reads.
        is_flat: whether no slot holds a list, so that places of slots are places of variables.
        reads: what the rule takes: kind, place, whether for its shape only, and whether it may be left out at the end.
        absent: whether gradients of outputs may be absent, for each of *reads*.
    """

    __slots__ = ("absent", "is_flat", "outs", "reads", "rule", "wrt")

    def __init__(self, op: OpDef, rule: GradientRule) -> None:
        self.rule = rule
        self.wrt = rule.wrt
        self.outs = [r.place for r in rule.reads if r.kind == "dout"]
        self.is_flat = not any(slot.many for slot in (*op.inputs, *op.outputs))
        self.reads = [(r.kind, r.place, r.like, r.late) for r in rule.reads]
        self.absent = [rule.takes_none or r.late for r in rule.reads]
