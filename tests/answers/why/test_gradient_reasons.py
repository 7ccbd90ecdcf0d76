"""Reasons agree with what ``append_backward`` returns, and a backward part can be taken out again."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings

from gradtool import paddle
from gradtool.engine.answers.why.of_program import explain
from gradtool.engine.answers.why.verdicts import Verdict
from gradtool.engine.core import names
from gradtool.engine.ir import default
from gradtool.engine.ir.strip import strip_backward
from gradtool.engine.ir.variable import Variable
from tests.autodiff.random_programs import Net, Step, steps


@settings(max_examples=60)
@given(recipe=steps(20))
def test_random_programs(recipe: list[Step]) -> None:
    with default.fresh_programs():
        net = Net(recipe)
        reasons = explain(list(net.block.ops), [net.loss])
        before = str(net.program)
        asked = [v for v in net.sources if v.is_parameter]
        expected = {v.name for v in asked if reasons.explain_variable(v).verdict is Verdict.OK}
        pairs = paddle.static.append_backward(net.loss, parameter_list=asked)
        assert {p.name for p, _ in pairs} == expected
        for v in asked:
            assert (reasons.explain_variable(v).text == "ok") == (v.name in expected)
        assert strip_backward(net.program) > 0
        assert str(net.program) == before
        again = paddle.static.append_backward(net.loss, parameter_list=asked)
        assert [(p.name, g.name) for p, g in again] == [(p.name, g.name) for p, g in pairs]


def chain(length: int) -> tuple[Variable, Variable]:
    w = paddle.static.create_parameter([1], "float32", name="w")
    h: Any = w
    for _ in range(length):
        h = paddle.square(h)
    return w, h


def test_depth_is_no_limit() -> None:
    w, h = chain(5_000)
    reasons = explain(h.block.ops, [h])
    assert reasons.explain_variable(w).verdict is Verdict.OK
    assert explain(h.block.ops, [h], {"w"}).explain_variable(w).text == "cut: no_grad_set"


def test_the_cut_is_found_behind_tensors_that_are_stopped_because_it_is() -> None:
    w, h = chain(1)
    cut = h.detach()
    later = paddle.square(paddle.square(cut))
    other = paddle.static.create_parameter([1], "float32", name="other")
    loss = paddle.mean(later + other)
    assert (
        explain(loss.block.ops, [loss]).explain_variable(w).text.startswith("cut: detached, test_gradient_reasons.py:")
    )


def test_the_nearest_cut_is_named() -> None:
    w, h = chain(3)
    middle = next(v for v in h.block.vars.values() if v.name == "square_1.tmp_0")
    loss = paddle.mean(h)
    answer = explain(loss.block.ops, [loss], {middle.name}).explain_variable(w)
    assert answer.verdict is Verdict.NO_GRAD_SET
    assert answer.text.startswith("cut: no_grad_set at square_1.tmp_0, test_gradient_reasons.py:")
    assert answer.cut is not None
    assert answer.cut.value is middle


def test_integers_and_inputs_without_a_gradient() -> None:
    ids = paddle.static.data("ids", [2], "int64")
    table = paddle.static.nn.embedding(ids, [5, 2])
    loss = paddle.mean(table)
    assert explain(loss.block.ops, [loss]).explain_variable(ids).text == "cut: int64 has no gradient"


def test_stripping_keeps_what_a_loss_needs_and_drops_what_looks_at_gradients() -> None:
    w, h = chain(2)
    (slope,) = paddle.static.gradients(h, w)
    loss = paddle.mean(slope * slope)
    pairs = paddle.static.append_backward(loss)
    paddle.mean(pairs[0][1])
    program = loss.block.program
    strip_backward(program, [loss])
    types = [o.type for o in program.global_block().ops]
    assert types.count("square_grad") == 2
    assert types.count("reduce_mean") == 1
    assert slope.name in program.global_block().vars
    assert pairs[0][1].name not in program.global_block().vars
    assert w.name in program.global_block().vars


def test_stripping_removes_saved_values_too() -> None:
    _, h = chain(1)
    target = paddle.square(h)
    product = target * target
    h.block.append_op("scale", {"X": h}, {"Out": target}, {"scale": 2.0})
    loss = paddle.mean(product + target)
    before = str(loss.block.program)
    paddle.static.append_backward(loss)
    assert any(names.is_saved(v) for v in loss.block.vars)
    strip_backward(loss.block.program)
    assert str(loss.block.program) == before
