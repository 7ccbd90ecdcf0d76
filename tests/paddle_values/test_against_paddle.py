"""Every call of the table gives what Paddle gave: values, types, gradients; and the same in a static program."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle

from .calls import CALLS, EXACTER, ONLY_DYNAMIC, ROUNDED
from .operands import names_in, values
from .outcome import carries, flat, outcome, read

RECORDED = json.loads(Path(__file__).with_name("values.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def dynamic() -> Any:
    paddle.disable_static()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    paddle.enable_static()


@pytest.mark.parametrize("call", CALLS)
def test_values_types_and_gradients(call: str) -> None:
    ours, theirs = outcome(paddle, call), RECORDED[call]
    for part, texts in theirs.items():
        if (call, part) in EXACTER:
            continue
        assert len(ours.get(part, ())) == len(texts), part
        for mine, text in zip(ours[part], texts, strict=True):
            compare(part, mine, read(text), rounded=call in ROUNDED)


def compare(part: str, mine: Any, expected: Any, rounded: bool) -> None:
    if mine is None or expected is None:  # None says that nothing depends
        there = mine if expected is None else expected
        assert there is None or not there.any(), part
        return
    assert (mine.dtype, mine.shape) == (expected.dtype, expected.shape), part
    single = rounded or mine.dtype.name in ("float32", "complex64")
    np.testing.assert_allclose(mine, expected, rtol=3e-5 if single else 1e-8, atol=1e-6 if single else 1e-10)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("call", [c for c in CALLS if c not in ONLY_DYNAMIC])
def test_a_static_program_gives_the_same(call: str) -> None:
    ours = outcome(paddle, call)
    paddle.enable_static()
    feed = {name: values(name) for name in names_in(call)}
    inputs = {name: paddle.static.data(name, v.shape, str(v.dtype)) for name, v in feed.items()}
    leaves = [v for v in inputs.values() if carries(v)]
    for leaf in leaves:
        leaf.stop_gradient = False
    results = flat(eval(call, {"paddle": paddle, "F": paddle.nn.functional, "np": np, **inputs}))
    fetched = [v for v in results if isinstance(v, paddle.static.Variable)]
    arrays = iter(paddle.static.Executor().run(feed=feed, fetch_list=fetched))
    for mine, result in zip(ours["results"], results, strict=True):
        there = next(arrays) if isinstance(result, paddle.static.Variable) else np.asarray(result)
        assert mine.dtype == there.dtype
        np.testing.assert_allclose(mine, there, rtol=1e-12, atol=1e-14)


def test_every_call_is_recorded() -> None:
    assert [*RECORDED] == [*CALLS]
    assert {*ROUNDED, *ONLY_DYNAMIC, *(call for call, _ in EXACTER)} <= {*CALLS}
