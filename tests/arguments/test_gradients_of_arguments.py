"""Each argument of a public function gets a gradient where Paddle gives it one, and none where Paddle gives none.

``values.json`` is what Paddle 3.3.1 did; 3.1.1 does the same for every call that it has.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradtool import paddle
from tests.arguments.calls import CALLS
from tests.arguments.outcome import outcome

RECORDED = json.loads(Path(__file__).with_name("values.json").read_text(encoding="utf-8"))

INDICES = "an index is no function of what was sorted: Paddle gives zeros"
SOLUTION = "Paddle has no gradient of the solution; it has one"
TAILS = "Paddle gives the weights of the tails none; they are used"
ONLY_ASKED = "Paddle lets the loss need a gradient for boxes, and gives them none"

DIFFERENCES: dict[str, str] = {
    "paddle.argsort(x).astype('float64') * y": INDICES,
    "paddle.linalg.lstsq(definite, right)[0]": SOLUTION,
    "F.adaptive_log_softmax_with_loss(x, labels, head, [[tail, tail2]], [2, 4])": TAILS,
    "F.adaptive_log_softmax_with_loss(x[0], labels[0], head, [[tail, tail2]], [2, 4], u[:3])": TAILS,
    "paddle.vision.ops.yolo_loss(cells, true_boxes, classes, [10, 13, 16, 30, 33, 23], [0, 2], 2, 0.5, 32)": ONLY_ASKED,
    "paddle.vision.ops.yolo_loss(cells, true_boxes, classes, [10, 13, 16, 30], [0, 1], 2, 0.4, 32, "
    "gt_score=sure, scale_x_y=1.1)": ONLY_ASKED,
}
"""The calls of which a gradient differs from Paddle's, each with the reason."""


@pytest.fixture(autouse=True)
def _dynamic() -> Iterator[None]:
    paddle.disable_static()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    paddle.enable_static()


def codes(call: str) -> dict[str, list[int]]:
    return {part: [int(code) for code in rows[0]] for part, rows in outcome(paddle, call).items()}


def recorded(call: str) -> dict[str, list[int]]:
    return {part: rows[0][2] for part, rows in RECORDED[call].items()}


@pytest.mark.parametrize("call", [c for c in CALLS if c in RECORDED and c not in DIFFERENCES])
def test_an_argument_gets_a_gradient_where_paddle_gives_it_one(call: str) -> None:
    assert codes(call) == recorded(call)


@pytest.mark.parametrize("call", DIFFERENCES)
def test_a_difference_is_still_one(call: str) -> None:
    assert codes(call) != recorded(call)


def test_nearly_every_call_was_recorded() -> None:
    missing = [c for c in CALLS if c not in RECORDED]
    assert len(RECORDED) > 340
    assert len(missing) < 8
