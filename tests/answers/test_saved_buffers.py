"""``saved``: what is kept, by whom, for how long; shared, equal and recomputable buffers; both modes."""

from __future__ import annotations

import numpy as np
import pytest

import gradtool
from gradtool import paddle
from gradtool.paddle.autograd import recompute
from gradtool.viz.bars import spark


def test_each_buffer_once_with_its_producer_and_readers() -> None:
    paddle.disable_static()
    x = paddle.to_tensor(np.ones([4, 3], "float32"), stop_gradient=False)

    def loss() -> object:
        h = paddle.exp(x)
        flat = h.reshape([12])
        return (paddle.tanh(h).reshape([12]) * flat).sum()

    story = gradtool.saved(loss)
    exp, tanh = story.kept
    assert (exp.producer.type, exp.nbytes, [r.type for r in exp.readers]) == (
        "exp",
        48,
        ["elementwise_mul_grad", "exp_grad"],
    )
    assert (tanh.producer.type, [r.type for r in tanh.readers]) == ("tanh", ["elementwise_mul_grad", "tanh_grad"])
    types = [o.type for o in story.operations]
    assert (types[exp.made], types[exp.last]) == ("exp", "exp_grad")
    assert (story.total, story.held, story.duplicated) == (96, 0, 0)
    assert story.peak == 96
    assert story.timeline[-1] == 48
    assert story.timeline[0] == 48
    assert str(story).startswith("2 buffers, 96 bytes; computing 1 operators again")


def test_what_the_program_holds_is_apart() -> None:
    paddle.disable_static()
    w = paddle.to_tensor(np.ones([3, 2], "float32"), stop_gradient=False)
    data = paddle.ones([4, 3])
    story = gradtool.saved(lambda: paddle.matmul(data, w).sum())
    assert story.kept == []
    assert (story.held, len(story.buffers)) == (4 * 3 * 4 + 3 * 2 * 4, 2)


def test_equal_contents_and_what_can_be_computed_again() -> None:
    paddle.disable_static()
    x = paddle.to_tensor(np.arange(1, 5, dtype="float32"), stop_gradient=False)
    story = gradtool.saved(lambda: (paddle.tanh(paddle.exp(x)) + paddle.tanh(paddle.exp(x))).sum())
    first, second, third, fourth = story.kept
    assert [b.duplicate_of for b in story.kept] == [None, None, first.number, second.number]
    assert (third.producer.type, fourth.producer.type) == ("exp", "tanh")
    assert [b.recompute for b in story.kept] == [True, False, True, False]
    assert story.recomputable == (32, 2, 38)


def test_large_arrays_are_compared_element_by_element_where_a_few_agree() -> None:
    """Element 1 lies between those that are looked at first."""
    paddle.disable_static()
    x = paddle.to_tensor(np.ones(1000, "float32"), stop_gradient=False)
    other = paddle.to_tensor(np.where(np.arange(1000) == 1, 2, 1).astype("float32"), stop_gradient=False)
    story = gradtool.saved(lambda: sum(paddle.tanh(v).square().sum() for v in (x * 1, x * 1, other * 1)))
    tanh = [b for b in story.kept if b.producer.type == "tanh"]
    assert [b.duplicate_of for b in tanh] == [None, tanh[0].number, None]


def test_a_training_loop_tells_of_its_last_pass() -> None:
    paddle.disable_static()
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)

    def train() -> None:
        for n in (1, 2):
            y = x
            for _ in range(n):
                y = paddle.exp(y)
            y.sum().backward()

    assert [b.producer.type for b in gradtool.saved(train).kept] == ["exp", "exp"]


def test_static_programs() -> None:
    x = paddle.static.data("x", [4, 3])
    w = paddle.static.create_parameter([3, 2], "float32")
    loss = paddle.tanh(paddle.matmul(x, w)).mean()
    paddle.static.Executor().run(paddle.static.default_startup_program())
    story = gradtool.saved(loss, feed={"x": np.ones([4, 3], "float32")})
    assert [(b.producer.type, b.nbytes, b.readers[0].type) for b in story.kept] == [("tanh", 32, "tanh_grad")]
    assert [b.tensor for b in story.buffers if b.held] == ["x", w.name]


def test_what_a_layer_of_ones_own_saved() -> None:
    paddle.disable_static()

    class Cube(paddle.autograd.PyLayer):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx, x):  # type: ignore[no-untyped-def]
            y = x * x
            ctx.save_for_backward(x, y)
            return y * x

        @staticmethod
        def backward(ctx, dy):  # type: ignore[no-untyped-def]
            _, y = ctx.saved_tensor()
            return dy * 3 * y

    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    story = gradtool.saved(lambda: Cube.apply(paddle.exp(x)).sum())
    assert "PyLayer_Cube_grad" in {r.type for b in story.kept for r in b.readers}


def test_derivatives_in_a_loss_keep_what_they_computed() -> None:
    paddle.disable_static()
    x = paddle.to_tensor([0.5, 1.0], stop_gradient=False)
    w = paddle.to_tensor([2.0, 3.0], stop_gradient=False)

    def loss() -> paddle.Tensor:
        (slope,) = paddle.grad(paddle.exp(x * w).sum(), x, create_graph=True)
        return paddle.tanh(slope).sum()

    story = gradtool.saved(loss)
    kept = [(b.producer.type, b.producer.derived) for b in story.kept]
    assert ("exp", False) in kept
    assert ("tanh", False) in kept
    assert story.derived
    assert ("elementwise_mul", True) in kept  # the slope by the product, which the slope by the weight needs
    assert {b.nbytes for b in story.kept} == {8}
    assert all(b.made < b.last for b in story.kept)
    assert max(story.timeline) <= story.total


def test_the_pass_of_a_derivative_is_not_the_pass_of_the_loss() -> None:
    paddle.disable_static()
    x = paddle.to_tensor([0.5, 1.0], stop_gradient=False)

    def loss() -> paddle.Tensor:
        (slope,) = paddle.grad((x * x * x).sum(), x, create_graph=True)
        loss = paddle.exp(slope).sum()
        loss.backward()
        return loss

    assert "exp" in {b.producer.type for b in gradtool.saved(loss).kept}


@pytest.mark.parametrize(("values", "text"), [([0, 0], ""), ([1, 8], "▁█"), (list(range(80)), None)])
def test_the_course_of_values(values: list[int], text: str | None) -> None:
    drawn = spark(values)
    assert drawn == text if text is not None else len(drawn) == 40


@pytest.mark.parametrize("trained", [True, False])
def test_what_a_recomputed_call_reads_of_the_program_is_held_anyway(trained: bool) -> None:
    paddle.disable_static()
    x = paddle.to_tensor(np.ones([2, 3], "float32"), stop_gradient=False)

    def loss() -> object:
        layer = paddle.nn.Linear(3, 3)  # operators fill it: its weights are results like others
        layer.weight.stop_gradient = layer.bias.stop_gradient = not trained

        def block(h: object) -> object:
            return paddle.tanh(layer(h))

        return recompute(block, block(x)).sum()

    story = gradtool.saved(loss)
    assert [b.producer.type for b in story.kept] == ["tanh"]
    assert "matmul_v2" in [r.type for r in story.kept[0].readers]
    sizes = [b.nbytes for b in story.buffers if b.held]
    assert sizes.count(3 * 3 * 4) == 1
    assert 3 * 4 in sizes
