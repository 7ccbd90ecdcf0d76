"""Every call of the table gives what Paddle gave: values, types, gradients; and the same in a static program."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from tests.layer_values.calls import CALLS, WITHOUT
from tests.layer_values.operands import operands_of
from tests.paddle_values.outcome import carries, flat, outcome, read

RECORDED = json.loads(Path(__file__).with_name("values.json").read_text(encoding="utf-8"))

CLOSE = {"float64": (5e-6, 1e-6), "float32": (3e-5, 1e-6)}
"""Relative and absolute, by type: Paddle reckons some of it in single precision."""


@pytest.fixture(autouse=True)
def _dynamic() -> Iterator[None]:
    paddle.disable_static()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    paddle.enable_static()


@pytest.mark.parametrize("call", CALLS)
def test_values_types_and_gradients(call: str) -> None:
    ours, theirs = outcome(paddle, call, operands_of(call)), RECORDED[call]
    for part, texts in theirs.items():
        if (call, part) in WITHOUT:
            continue
        assert len(ours.get(part, ())) == len(texts), part
        for mine, text in zip(ours[part], texts, strict=True):
            compare(part, mine, read(text))


def compare(part: str, mine: Any, expected: Any) -> None:
    if mine is None or expected is None:  # None says that nothing depends
        there = mine if expected is None else expected
        assert there is None or not there.any(), part
        return
    assert (mine.dtype, mine.shape) == (expected.dtype, expected.shape), part
    rtol, atol = CLOSE.get(mine.dtype.name, (0.0, 0.0))
    np.testing.assert_allclose(mine, expected, rtol=rtol, atol=atol, err_msg=part)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("call", CALLS)
def test_a_static_program_gives_the_same(call: str) -> None:
    ours = outcome(paddle, call, operands_of(call))
    paddle.enable_static()
    feed = operands_of(call)
    inputs = {name: paddle.static.data(name, v.shape, str(v.dtype)) for name, v in feed.items()}
    for leaf in [v for v in inputs.values() if carries(v)]:
        leaf.stop_gradient = False
    results = flat(eval(call, {"paddle": paddle, "F": paddle.nn.functional, "np": np, **inputs}))
    results = [v for v in results if v is not None]
    expected = [v for v in ours["results"] if v is not None]
    executor = paddle.static.Executor()
    executor.run(paddle.static.default_startup_program())
    for mine, there in zip(expected, executor.run(feed=feed, fetch_list=results), strict=True):
        assert mine.dtype == there.dtype
        np.testing.assert_allclose(mine, there, rtol=1e-12, atol=1e-14)


def test_every_call_is_recorded() -> None:
    assert [*RECORDED] == [*CALLS]
    assert {call for call, _ in WITHOUT} <= {*CALLS}
