"""What every definition must say about itself."""

from __future__ import annotations

from gradtool.engine.ops.opdef import OpDef, Trait
from tests.ops.cases import BY_HAND, each_op

RULED = Trait.UNARY | Trait.ELEMENTWISE | Trait.COMPARE


@each_op()
def test_documented(op: OpDef) -> None:
    assert len(op.doc) > 10
    assert op.doc.endswith((".", "…"))


@each_op()
def test_shape_rule(op: OpDef) -> None:
    if not op.infers:
        assert op.infer_fn is None, "what it computes is declared to follow from something else"
        return
    assert op.infer_fn is not None or op.trait & RULED, "neither an infer rule nor a trait that stands for one"


@each_op()
def test_samples(op: OpDef) -> None:
    assert any(op.make_samples()) == (op.infers and op.type not in BY_HAND)


@each_op()
def test_gradient_rule_or_none_on_purpose(op: OpDef) -> None:
    if op.differentiable:
        assert op.rule is not None, "differentiable, but without a rule"
    else:
        assert op.rule is None, "declared not differentiable, but with a rule"
