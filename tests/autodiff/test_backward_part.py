"""``differentiate``: what it says about the operators that it adds is what the program shows."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gradtool import paddle
from gradtool.engine.answers.why.of_program import explain
from gradtool.engine.answers.why.verdicts import Verdict
from gradtool.engine.autodiff.backward_part import differentiate
from gradtool.engine.core.errors import LossError
from gradtool.engine.ir import roles
from gradtool.engine.ir.default import fresh_programs
from gradtool.engine.ir.variable import Variable
from tests.autodiff.nets import data, main, mean, op, pairs, two_layers

Net = tuple[Variable, list[Variable]]
"""A loss, and checkpoints for it."""


def plain() -> Net:
    return two_layers(), []


def overwritten() -> Net:
    """Backward reads the value that ``tanh`` made before something else is written over it."""
    x = data("x", 3)
    w = paddle.create_parameter([3], "float64", name="w")
    h = op("tanh", op("elementwise_mul", x, w))
    used = op("elementwise_mul", h, x)
    main().global_block().append_op("scale", {"X": x}, {"Out": h}, {"scale": 5.0})
    return mean(op("elementwise_add", used, h)), []


def recomputed() -> Net:
    """Dropout that runs again, with a seed that is drawn once."""
    h = paddle.static.data("x", [4, 3])
    layers = []
    for i in range(3):
        h = paddle.nn.functional.dropout(paddle.static.nn.fc(h, 3, name=f"l{i}", activation="relu"))
        layers.append(h)
    return mean(h), layers[:2]


NETS = [plain, overwritten, recomputed]


@pytest.mark.parametrize("net", NETS)
def test_ops_are_those_that_the_block_has_gained(net: Callable[[], Net]) -> None:
    loss, checkpoints = net()
    block = main().global_block()
    before = set(block.ops)
    part = differentiate(loss, checkpoints=checkpoints)
    assert part.ops == [o for o in block.ops if o not in before]
    assert part.backward_ops == [o for o in part.ops if roles.is_backward(o.role)]
    assert part.recomputed == [o for o in part.ops if o.repeats is not None]
    assert bool(part.recomputed) == bool(checkpoints)
    assert part.checkpoints == checkpoints


@pytest.mark.parametrize("net", NETS)
def test_it_adds_what_append_backward_adds(net: Callable[[], Net]) -> None:
    loss, checkpoints = net()
    part = differentiate(loss, checkpoints=checkpoints)
    text = main().to_string(True)
    with fresh_programs():
        loss, checkpoints = net()
        result = paddle.static.append_backward(loss, checkpoints=checkpoints)
        assert main().to_string(True) == text
        assert pairs(result[0] if checkpoints else result) == pairs(part.pairs)


def test_between_forward_operators_stand_copies_and_seeds() -> None:
    loss, _ = overwritten()
    part = differentiate(loss)
    assert part.ops[0].type == "assign"
    assert main().global_block().ops.index(part.ops[0]) < main().global_block().ops.index(loss.op)
    with fresh_programs():
        loss, checkpoints = recomputed()
        part = differentiate(loss, checkpoints=checkpoints)
        assert [o.type for o in part.ops[:2]] == ["seed", "seed"]
        assert not {*part.ops[:2]} & {*part.backward_ops}


def test_what_is_used_again_is_not_added() -> None:
    loss, _ = plain()
    w = main().global_block().var("a.w_0")
    b = main().global_block().var("a.b_0")
    first = differentiate(loss, asked=[w])
    second = differentiate(loss, asked=[b, w], stopped=[])
    assert pairs(first.pairs) == [("a.w_0", "a.w_0@GRAD")]
    assert pairs(second.pairs) == [("a.b_0", "a.b_0@GRAD"), ("a.w_0", "a.w_0@GRAD")]
    assert second.ops == []


def test_stopped_variables_and_names_get_no_gradient() -> None:
    loss, _ = plain()
    part = differentiate(loss, ["a.b_0", main().global_block().var("b.w_0")])
    assert [p for p, _ in pairs(part.pairs)] == ["a.w_0", "b.b_0"]


@pytest.mark.parametrize("net", NETS)
def test_explanations_go_by_its_numbering(net: Callable[[], Net]) -> None:
    """The numbering still holds for the forward operators when the backward part has entered the program."""
    loss, checkpoints = net()
    forward = list(main().global_block().ops)
    variables = [*main().global_block().vars.values()]
    stopped = ["a.b_0", "l1.b_0"]
    before = explain(forward, [loss], stopped)
    part = differentiate(loss, stopped, checkpoints=checkpoints)
    after = explain(forward, [loss], stopped, values=part.values)
    assert [after.explain_variable(v).verdict for v in variables] == [
        before.explain_variable(v).verdict for v in variables
    ]
    assert [v.name for v, _ in part.pairs] == [
        p.name for p in main().all_parameters() if after.explain_variable(p).verdict is Verdict.OK
    ]


def test_a_loss_that_nothing_computes_is_refused() -> None:
    with pytest.raises(LossError, match="'x' is not computed by any operator"):
        differentiate(data("x", 1))
