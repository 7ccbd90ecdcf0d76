"""Which line is told: that of the cause, with the place where it shows and the call that led there beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.answers.why import callers
from gradtool.engine.answers.why.answers import Answer
from gradtool.engine.answers.why.verdicts import Verdict
from gradtool.engine.core import source
from gradtool.paddle import nn

pytestmark = pytest.mark.usefixtures("dynamic", "stacks")


@pytest.fixture
def stacks() -> Iterator[None]:
    """As commands load a file for ``why``."""
    with source.full_stacks():
        yield


def weight(*shape: int) -> paddle.Tensor:
    return paddle.create_parameter(list(shape), "float32")


def told(loss: paddle.Tensor, w: paddle.Tensor) -> Answer:
    (answer,) = gradtool.why(loss, w)
    return answer


def places(answer: Answer) -> dict[str, str]:
    return {p["what"]: p["code"] for p in answer.data()["places"]}


# -- what nobody uses -------------------------------------------------------------------------------------------------


def pair(w: paddle.Tensor, v: paddle.Tensor) -> tuple[paddle.Tensor, paddle.Tensor]:
    return w * 2.0, v * 3.0


def pair_by_names(w: paddle.Tensor, v: paddle.Tensor) -> tuple[paddle.Tensor, paddle.Tensor]:
    main = w * 2.0
    side = v * 3.0
    return main, side


def outputs_in_a_dict(w: paddle.Tensor, v: paddle.Tensor) -> tuple[paddle.Tensor, paddle.Tensor]:
    outputs = {}
    outputs["main"] = w * 2.0
    outputs["side"] = v * 3.0
    return outputs["main"], outputs["side"]


def appended(w: paddle.Tensor, v: paddle.Tensor) -> list[paddle.Tensor]:
    results = []
    for tensor in (w, v):
        results.append(tensor * 3.0)
    return results


def listed(w: paddle.Tensor, v: paddle.Tensor) -> list[paddle.Tensor]:
    return [tensor * 3.0 for tensor in (w, v)]


def through_another(w: paddle.Tensor, v: paddle.Tensor) -> tuple[paddle.Tensor, paddle.Tensor]:
    result = pair(w, v)
    return result


def kept_to_itself(w: paddle.Tensor, v: paddle.Tensor) -> paddle.Tensor:
    side = v * 3.0  # kept
    assert side.shape == [2]
    return w * 2.0


@pytest.mark.parametrize(
    "function", [pair, pair_by_names, outputs_in_a_dict, appended, listed, through_another], ids=lambda f: f.__name__
)
def test_the_line_that_lets_go_of_a_result_is_the_cause(function: Callable[..., Any]) -> None:
    with gradtool.watching():
        w, v = weight(2), weight(2)
        main, _ = function(w, v)  # here
        answer = told(main.sum(), v)
    assert answer.verdict is Verdict.NO_PATH
    assert answer.code.endswith("# here")
    assert "* 3.0" in places(answer)["made"]
    assert answer.operator != answer.source


def test_what_a_function_makes_and_does_not_return_ends_in_it() -> None:
    with gradtool.watching():
        w, v = weight(2), weight(2)
        answer = told(kept_to_itself(w, v).sum(), v)
    assert answer.code.endswith("# kept")


def test_results_that_one_line_drops_are_one_finding() -> None:
    class Heads(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.main, self.first, self.second = (nn.Linear(2, 1) for _ in range(3))

        def forward(self, x: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
            first = self.first(x)
            second = self.second(x)
            return self.main(x), first, second

    with gradtool.watching():
        net = Heads()
        result, *_ = net(paddle.ones([3, 2]))
        answers = gradtool.why(result.sum(), [*net.parameters()])
    lines = {a.code for a in answers if a.finding}
    assert lines == {"result, *_ = net(paddle.ones([3, 2]))"}


# -- cuts -------------------------------------------------------------------------------------------------------------


def silenced(h: paddle.Tensor) -> None:
    h.stop_gradient = True  # set


def without_gradient(h: paddle.Tensor) -> paddle.Tensor:
    return h.detach()  # cut


def rounded(h: paddle.Tensor) -> paddle.Tensor:
    return h.astype("int64")  # cast


@paddle.no_grad()  # guard
def guarded(h: paddle.Tensor) -> paddle.Tensor:
    return h * 3.0


def test_where_stop_gradient_of_a_result_was_set() -> None:
    with gradtool.watching():
        w, v = weight(2), weight(2)
        h = w * 2.0
        silenced(h)  # call
        answer = told((h * v).sum(), w)
    assert answer.verdict is Verdict.STOP_GRADIENT
    assert answer.code == "h.stop_gradient = True  # set"
    assert places(answer) == {"cut at": "h = w * 2.0", "called at": "silenced(h)  # call"}


@pytest.mark.parametrize(
    ("function", "verdict", "line"),
    [(without_gradient, Verdict.DETACHED, "# cut"), (guarded, Verdict.NO_GRAD, "# guard")],
)
def test_the_call_that_led_to_a_cut_stands_beside_it(function: Callable[..., Any], verdict: Verdict, line: str) -> None:
    with gradtool.watching():
        w, v = weight(2), weight(2)
        h = function(w * 2.0)  # call
        answer = told((h * v).sum(), w)
    assert answer.verdict is verdict
    assert answer.code.endswith(line)
    assert places(answer)["called at"].endswith("# call")


def test_the_cast_is_the_cause_where_whole_numbers_choose_rows() -> None:
    with gradtool.watching():
        w, table = weight(3), weight(4, 2)
        ids = rounded(w * 2.0).reshape([3, 1]).squeeze(-1)
        answer = told(nn.functional.embedding(ids.clip(0, 3), table).sum(), w)
    assert answer.verdict is Verdict.INTEGER
    assert answer.code.endswith("# cast")
    assert "cast makes integers" in answer.said


def test_a_zero_is_traced_to_the_first_one() -> None:
    with gradtool.watching():
        w, v = weight(2, 2), weight(2, 2)
        mask = paddle.zeros([2])
        loss = paddle.matmul(w * mask, v).sum() + 1.0
        answer = told(loss, v)
    assert answer.verdict is Verdict.TIMES_ZERO
    assert answer.code == "mask = paddle.zeros([2])"


@pytest.mark.parametrize("holds", [True, False])
def test_a_condition_that_chooses_one_side_alone_is_the_cause(holds: bool) -> None:
    with gradtool.watching():
        w, v = weight(2), weight(2)
        condition = paddle.full([2], holds, dtype="bool")
        none = paddle.zeros([2])
        chosen = paddle.where(condition, none, w) if holds else paddle.where(condition, w, none)
        first, second = gradtool.why((chosen * v + 1.0).sum(), [w, v])
    assert (first.verdict, second.verdict) == (Verdict.NOT_SELECTED, Verdict.TIMES_ZERO)
    assert {a.code for a in (first, second)} == {'condition = paddle.full([2], holds, dtype="bool")'}
    assert f"its condition holds {'everywhere' if holds else 'nowhere'}" in first.said[0]


class Returns(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx: Any, x: paddle.Tensor, how: str) -> paddle.Tensor:
        ctx.how = how
        return x * 2.0

    @staticmethod
    def backward(ctx: Any, g: paddle.Tensor) -> Any:
        return None if ctx.how == "none" else g * 0.0  # returned


class Branches(Returns):
    @staticmethod
    def backward(ctx: Any, g: paddle.Tensor) -> Any:  # definition
        if ctx.how == "none":
            return None
        return g * 0.0


@pytest.mark.parametrize(("layer", "line"), [(Returns, "# returned"), (Branches, "# definition")])
@pytest.mark.parametrize(("how", "verdict"), [("none", Verdict.NON_DIFFERENTIABLE), ("zeros", Verdict.TIMES_ZERO)])
def test_the_backward_of_a_layer_is_the_cause(layer: Any, line: str, how: str, verdict: Verdict) -> None:
    with gradtool.watching():
        w = weight(2)
        answer = told(layer.apply(w, how).sum(), w)
    assert answer.verdict is verdict
    assert answer.code.endswith(line)
    assert "layer.apply" in places(answer)["cut at"]


# -- lost uses --------------------------------------------------------------------------------------------------------


def test_what_is_computed_from_a_parameter_may_lose_a_use() -> None:
    with gradtool.watching():
        w = weight(2)
        h = w * 2.0
        loss = (h * h.detach() + w * 1.0).sum()
        answer = told(loss, w)
        (whole,) = gradtool.why(loss, w, contributions=True)
        (inner,) = gradtool.why(loss, h, contributions=True)
    assert (answer.verdict, answer.finding) == (Verdict.OK, False)
    assert answer.label == "1 of 2 uses of elementwise_mul detached" or answer.label.startswith("1 of 2 uses of ")
    assert answer.code == "loss = (h * h.detach() + w * 1.0).sum()"
    assert [p.lost for p in whole.parts] == ["", ""]
    assert [p.lost for p in inner.parts if p.lost] == ["detached"]


def test_a_lost_use_of_a_program_is_told() -> None:
    paddle.enable_static()
    with gradtool.watching():
        w = paddle.static.create_parameter([2], "float32", name="w")
        h = w * 2.0
        g = h * 3.0
        g.stop_gradient = True
        loss = paddle.sum(h + g)
    paddle.static.Executor().run(paddle.static.default_startup_program())
    (answer,) = gradtool.why(loss, [w])
    (parts,) = gradtool.why(loss, [h], contributions=True)
    assert answer.label.endswith("stop_gradient")
    assert answer.label.startswith("1 of 2 uses of ")
    assert answer.code == "g.stop_gradient = True"
    assert [p.lost for p in parts.parts if p.lost] == ["stop_gradient"]


# -- reading the functions around a line ------------------------------------------------------------------------------


def test_no_caller_is_told_of_a_line_of_the_function_itself() -> None:
    here = source.here()
    assert callers.caller(here, here) == source.NOWHERE
    assert callers.caller(source.NOWHERE, here) == source.NOWHERE


def test_a_function_whose_text_is_gone_returns_nothing() -> None:
    code = compile("def f():\n    return 1\n", "<no file>", "exec").co_consts[0]
    outer = source.here()
    assert callers.let_go(((code, 2), *outer)) == ((code, 2), *outer)
    assert callers.result(code) == ((code, 1),)
