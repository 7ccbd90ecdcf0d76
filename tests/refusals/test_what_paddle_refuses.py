"""Dynamic mode refuses what Paddle 3.3.1 refuses (``refused.json``, made by ``make.py``), with an error of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradtool import paddle

from .calls import calls, names

RECORD: dict[str, list[str]] = json.loads(Path(__file__).with_name("refused.json").read_text(encoding="utf-8"))

ACCEPTED_HERE = {
    "paddle.nn.functional.sequence_mask(i(2), maxlen=0)": "nothing to mask: the result is empty",
    "paddle.nn.functional.softmax_with_cross_entropy(f(2, 3), i(2))": "labels without the dimension of the classes",
    "paddle.nn.MarginRankingLoss(reduction='all')": "the first use of the layer refuses it, as of the other losses",
}
"""What Paddle refuses and gradtool computes, and why."""


pytestmark = pytest.mark.usefixtures("dynamic")


def test_the_record_is_of_these_calls() -> None:
    assert sorted(call for refusals in RECORD.values() for call in refusals) == sorted(calls())


def test_what_paddle_refuses_is_refused() -> None:
    accepted = []
    errors: dict[str, Exception] = {}
    for kind, refused in RECORD.items():
        if kind in ("accepted", "ended"):
            continue
        for call in refused:
            try:
                eval(call, names(paddle))
            except Exception as error:
                errors[call] = error
            else:
                accepted.append(call)
    assert sorted(accepted) == sorted(ACCEPTED_HERE)
    slips = (AttributeError, KeyError, NameError, RecursionError, UnboundLocalError, ZeroDivisionError)
    assert not {call: error for call, error in errors.items() if type(error) in slips or not str(error)}


def test_what_ends_paddle_does_not_end_this() -> None:
    for call in RECORD["ended"]:
        with pytest.raises((ValueError, TypeError)):
            eval(call, names(paddle))


def test_the_layer_that_is_refused_when_used() -> None:
    with pytest.raises(ValueError, match="reduction"):
        eval("paddle.nn.MarginRankingLoss(reduction='all')(f(2), f(2), f(2))", names(paddle))
