"""A slice of the random programs, with what Paddle made of them; and the differences that are decided."""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import gradtool
from gradtool import paddle

from .comparing import difference
from .decided import DECISIONS, Decision, reason_of
from .driver import answered
from .peers import OURS, Peer
from .record import DECIDED, SLICE
from .slopes import verdict

RECORDS: list[list[Any]] = json.loads(SLICE.read_text(encoding="utf-8"))
EXAMPLES: dict[str, Any] = dict(json.loads(DECIDED.read_text(encoding="utf-8")))
PARTS = 8


def ours(text: str) -> dict[str, Any]:
    """gradtool's answer, as after the way through JSON that recorded ones have gone."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return json.loads(json.dumps(answered(paddle, text)))
    finally:
        gradtool.paddle.disable_static()


@pytest.mark.parametrize("part", range(PARTS))
def test_recorded_programs_come_out_as_in_paddle(part: int) -> None:
    differing = []
    for text, theirs in RECORDS[part::PARTS]:
        gap = difference(text, ours(text), theirs)
        if gap is not None and not reason_of(text, gap):
            differing.append(f"{gap.kind} of {gap.function}: {gap.ours} instead of {gap.theirs}\n{text}")
    assert not differing, "\n\n".join(differing)


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda d: d.reason)
def test_what_is_decided_still_differs(decision: Decision) -> None:
    gap = difference(decision.example, ours(decision.example), EXAMPLES[decision.example])
    assert gap is not None, f"nothing differs any more: {decision.reason}"
    assert decision.takes(decision.example, gap), gap


@pytest.mark.parametrize("decision", [d for d in DECISIONS if d.slopes], ids=lambda d: d.reason)
def test_where_paddle_is_said_to_be_wrong_differences_say_so(decision: Decision) -> None:
    assert verdict(decision.example, ours(decision.example), EXAMPLES[decision.example]) == "ours"


def test_a_changed_value_is_a_difference() -> None:
    text = '# eager\nx0 = tensor("float32", [2], [1.0, 2.0], grad=True)\nv0 = x0 * x0\nbackward("v0")'
    right = ours(text)
    wrong = json.loads(json.dumps(right))
    wrong["grads"]["x0"]["values"][1] += 0.01
    assert difference(text, right, right) is None
    gap = difference(text, wrong, right)
    assert gap is not None
    assert gap.class_ == ("grads value", "*")


def test_the_process_beside_the_peer_answers_as_this_one() -> None:
    text = '# eager\nx0 = tensor("float32", [2], [1.0, 2.0], grad=True)\nv0 = paddle.exp(x0)\nbackward("v0")'
    beside = Peer(sys.executable, OURS)
    try:
        assert beside.ask(text) == ours(text)
    finally:
        beside.stop()


def test_a_difference_of_operators_is_blamed_on_the_line_that_appended_them() -> None:
    text = '# static\nx0 = tensor("float32", [1], [1.0])\nv0 = paddle.exp(x0)\nv1 = paddle.tanh(v0)\nv2 = v1 + v1'
    right = ours(text)
    other = json.loads(json.dumps(right))
    other["ops"][1] = "sin exp_0.tmp_0 -> sin_0.tmp_0"
    gap = difference(text, right, other)
    assert gap is not None
    assert gap.class_ == ("operators", "tanh")
