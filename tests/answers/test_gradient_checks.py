"""``gradcheck``: of functions, of recorded models computed again, of programs; and what it says of wrong ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.answers import checking, gradcheck
from gradtool.engine.answers.double_precision import Double
from gradtool.engine.answers.gradcheck import Claim, likely_cause
from gradtool.engine.loading.loader import Request
from gradtool.engine.questions.gradcheck import Gradcheck
from gradtool.engine.runs import of_tape
from gradtool.engine.runs.recorder import Recorder

pytestmark = pytest.mark.usefixtures("dynamic")


def leaf(values: Any) -> Any:
    return paddle.to_tensor(np.asarray(values, "float32"), stop_gradient=False)


def test_a_right_function_of_two_orders() -> None:
    story = gradtool.gradcheck(
        lambda x, y: (paddle.tanh(x) * y, paddle.exp(y).sum()), [leaf([0.1, 0.5]), leaf([1, 2])], order=2
    )
    assert [(e.order, e.status) for e in story.entries] == [(1, "ok"), (1, "ok"), (2, "ok"), (2, "ok")]
    assert story.is_passed
    assert all(e.dtype == "float64" and e.error < 1e-7 for e in story.entries)


def test_random_numbers_are_the_same_in_each_call() -> None:
    assert gradtool.gradcheck(lambda x: paddle.nn.functional.dropout(x * x), leaf(np.arange(1, 9))).is_passed


@pytest.mark.parametrize(
    ("function", "op_type"),
    [
        (lambda x: paddle.nn.functional.relu(x), "relu"),
        (lambda x: paddle.abs(x), "abs"),
        (lambda x: paddle.max(x * 0.0), "reduce_max"),
        (lambda x: paddle.clip(x, 0.0, 1.0), "clip"),
        (lambda x: paddle.floor(x) + x, "floor"),
        (lambda x: paddle.maximum(x, paddle.zeros([2], x.dtype)), "elementwise_max"),
    ],
)
def test_kinks_are_refused_by_name(function: Any, op_type: str) -> None:
    story = gradtool.gradcheck(function, leaf([0.0, 0.0]))
    if op_type == "reduce_max":
        assert story.is_passed  # a factor of 0 hides the kink: nothing changes
        return
    [entry] = story.entries
    assert (entry.status, entry.cause) == ("kink", f"{op_type} has a kink there")
    assert not story.is_passed


def test_of_a_long_model_few_elements_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    class Doubled(paddle.autograd.PyLayer):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1.0

        @staticmethod
        def backward(ctx: Any, dy: Any) -> Any:
            return dy * 2.0

    def count_calls(most: int) -> int:
        calls = []

        def function(x: Any) -> Any:
            calls.append(0)
            return Doubled.apply(x)

        monkeypatch.setattr(gradcheck, "MOST_OPERATORS", most)
        (entry,) = gradtool.gradcheck(function, leaf(np.arange(1.0, 101.0))).entries
        assert (entry.status, entry.cause) == ("wrong", "wrong by a factor of 2")
        return len(calls)

    all_elements, fewest = count_calls(10_000), count_calls(1)
    assert all_elements - fewest == 2 * (100 - gradcheck.FEWEST_ELEMENTS)


def test_a_second_order_that_is_wrong() -> None:
    class Square(paddle.autograd.PyLayer):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, dy: Any) -> Any:
            (x,) = ctx.saved_tensor()
            return dy * 2 * x.detach()

    first, second = gradtool.gradcheck(Square.apply, leaf([1.0, 2.0]), order=2).entries
    assert (first.status, second.status) == ("ok", "wrong")
    assert "own gradient" in second.cause


def test_functions_that_cannot_be_checked() -> None:
    with pytest.raises(TypeError, match="no input with stop_gradient=False"):
        gradtool.gradcheck(paddle.tanh, paddle.ones([2]))
    with pytest.raises(TypeError, match="returned no Tensor"):
        gradtool.gradcheck(lambda x: 3, leaf([1.0]))
    with pytest.raises(ValueError, match="order must be 1 or 2"):
        gradtool.gradcheck(paddle.tanh, leaf([1.0]), order=3)


def test_a_training_loop_is_computed_again_at_its_last_step() -> None:
    recorder = Recorder()
    with recorder.record():
        net = paddle.nn.Sequential(
            paddle.nn.Conv2D(1, 2, 3), paddle.nn.BatchNorm2D(2), paddle.nn.Flatten(), paddle.nn.Dropout(0.3),
            paddle.nn.Linear(8, 3),
        )  # fmt: skip
        optimizer = paddle.optimizer.Adam(parameters=net.parameters())
        for _ in range(2):
            loss = paddle.nn.functional.cross_entropy(net(paddle.rand([3, 1, 4, 4])), paddle.to_tensor([0, 1, 2]))
            loss.backward(retain_graph=True)
            before = {p.name: p.numpy() for p in net.parameters()}
            optimizer.step()
            optimizer.clear_grad()
    parameters = [p for p in net.parameters() if not p.stop_gradient]
    timeline = of_tape.forward(recorder, loss, parameters)
    for p in parameters:
        [number] = timeline.leaves[p.leaf]
        np.testing.assert_array_equal(timeline.store.get(number), before[p.name])
    double = Double(timeline, [p.leaf for p in parameters])
    assert double.gaps == []
    again, _ = double({})
    np.testing.assert_allclose(again, loss.numpy(), rtol=1e-5)
    assert again.dtype == np.float64
    for p in parameters:
        moved, _ = double({p.leaf: before[p.name] + 0.1})
        assert (moved != again) == (p is not net[0].bias)  # which the normalisation takes off again


def test_numpy_inside_of_a_layer_is_noticed() -> None:
    class Outside(paddle.autograd.PyLayer):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return paddle.to_tensor(np.tanh(x.numpy())) * 1.0

        @staticmethod
        def backward(ctx: Any, dy: Any) -> Any:
            return dy

    recorder = Recorder()
    with recorder.record():
        x = leaf([1.0, 2.0])
        loss = Outside.apply(x * 1.0).sum()
    [entry] = checking.check_loss(loss, recorder, {x: "x"})
    assert entry.status == "unchecked"
    assert entry.cause.startswith("cannot be repeated: PyLayer_Outside at ")
    assert entry.cause.endswith(": it computes outside of operators")


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda n: 0 * n, "no gradient arrives"),
        (lambda n: -n, "the sign is wrong"),
        (lambda n: n / 5, "wrong by a factor of 1/5"),
        (lambda n: 2.5 * n, "wrong by a factor of 2.5"),
        (lambda n: n.reshape(3, 4).reshape(-1) + np.eye(12)[0], "1 of 12 elements"),
        (lambda n: n * (1 + 1e-3 * np.cos(np.arange(12))), "precision: float32"),
    ],
)
def test_patterns_of_errors(wrong: Any, text: str) -> None:
    n = np.random.default_rng(0).normal(size=12)
    subject = Claim("w", "w", n.reshape(3, 4), n.reshape(3, 4), np.dtype("float32"))
    assert text in likely_cause(wrong(n), n, (3, 4), subject, limit=2e-3)


def test_a_choice_that_rounding_decides_is_a_kink() -> None:
    """In float32 both sums are 1, and the first one is the larger; in double precision the second one is."""
    small = paddle.to_tensor(np.array([1.0, 0.0, 1.0, 5e-8], "float32"))
    recorder = Recorder()
    with recorder.record():
        w = leaf(np.ones(4, "float32"))
        pairs = (w * small).reshape([2, 2]).sum(axis=1)
        loss = paddle.topk(pairs, 1)[0].sum() * 2.0
    [entry] = checking.check_loss(loss, recorder, {w: "w"})
    assert (entry.status, entry.cause) == ("kink", "top_k_v2 has a kink there: float32 rounding decides")


def test_a_function_without_inputs_is_checked_by_all_that_it_reads() -> None:
    net = paddle.nn.Linear(3, 2)
    x = leaf([[1.0, 2.0, 3.0]])
    story = gradtool.gradcheck(lambda: paddle.tanh(net(x)).sum(), order=2)
    assert story.is_passed
    assert {e.order for e in story.entries} == {1, 2}
    assert {e.name for e in story.entries} == {x.name, "weight", "bias"}
    with pytest.raises(TypeError, match="the run that computed this Tensor is over"):
        gradtool.gradcheck(net(x).sum())
    with pytest.raises(TypeError, match="expected a loss Tensor"):
        gradtool.gradcheck(lambda: 3)


def test_a_program_is_checked_from_python() -> None:
    paddle.enable_static()
    x = paddle.static.data("x", [2, 3])
    loss = paddle.mean(paddle.static.nn.fc(x, 2, activation="tanh"))
    paddle.static.Executor().run(paddle.static.default_startup_program())
    story = gradtool.gradcheck(loss, feed={"x": np.ones([2, 3], "float32")})
    assert story.is_passed
    assert len(story.entries) == 2


def test_recurrent_layers_are_computed_again() -> None:
    lstm = paddle.nn.LSTM(3, 2)
    assert gradtool.gradcheck(lambda: lstm(paddle.ones([1, 4, 3]))[0].sum()).is_passed


_SHIFTED = """\
import paddle

{mode}
paddle.seed(3)
lin, bn, head = paddle.nn.Linear(8, 6), paddle.nn.BatchNorm1D(6), paddle.nn.Linear(6, 1)
{data}
loss = 100 * (head(paddle.tanh(bn(lin(x)))).mean() - head(paddle.tanh(bn(lin(y)))).mean())
"""
_STATIC = (
    "paddle.enable_static()",
    "x, y = paddle.static.data('x', [256, 8]), paddle.static.data('y', [256, 8])",
)
_DYNAMIC = "", "x, y = paddle.randn([256, 8]), paddle.randn([256, 8]) + 3"
_ATTENTION = """\
import paddle

paddle.seed(3)
q, k, v = (paddle.nn.Linear(8, 8) for _ in range(3))
x = paddle.randn([2, 16, 8])
a = paddle.nn.functional.softmax(q(x) @ k(x).transpose([0, 2, 1]), axis=-1) @ v(x)
loss = 100 * (a[0].mean() - a[1].mean())
"""


@pytest.mark.parametrize(
    ("text", "bias"),
    [
        (_SHIFTED.format(mode=_DYNAMIC[0], data=_DYNAMIC[1]), "lin.bias"),
        (_SHIFTED.format(mode=_DYNAMIC[0], data=_DYNAMIC[1]) + "loss.backward()\n", "lin.bias"),
        (_SHIFTED.format(mode=_STATIC[0], data=_STATIC[1]), "linear_0.b_0"),
        (_ATTENTION + "loss.backward()\n", "k.bias"),
    ],
    ids=["computed", "trained", "static", "attention"],
)
def test_a_gradient_that_is_zero_by_structure_is_right_up_to_rounding(text: str, bias: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(text, encoding="utf-8")
    entries = Gradcheck().ask(Request(str(script))).story.entries
    assert {e.status for e in entries} == {"ok"}, [str(e) for e in entries if e.status != "ok"]
    [e] = [e for e in entries if e.name == bias]
    assert abs(e.analytic) > 100 * abs(e.numeric)


def test_a_wrong_rule_is_no_rounding(tmp_path: Path) -> None:
    rule = (
        "class Off(paddle.autograd.PyLayer):\n"
        "    forward = staticmethod(lambda ctx, x: x * 2)\n"
        "    backward = staticmethod(lambda ctx, g: g * 2.02)\n"
    )
    text = _SHIFTED.format(mode=rule, data=_DYNAMIC[1])
    text = text.replace("bn(lin(x))", "Off.apply(bn(lin(x)))")
    script = tmp_path / "script.py"
    script.write_text(text, encoding="utf-8")
    entries = Gradcheck().ask(Request(str(script))).story.entries
    assert [e.name for e in entries if e.status == "wrong"][:1] == ["lin.weight"]
