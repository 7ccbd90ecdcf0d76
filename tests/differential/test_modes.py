"""The same drawn calls in static and in dynamic mode: equal values and gradients."""

from __future__ import annotations

import pytest

import gradtool
from tests.sampling import sampled

from .modes import difference, pair, reason_of, run
from .table import ROWS

SEEDS = 12
ONE_IN = 12
NAMES = [name for name, row in ROWS.items() if {"eager", "static"} <= {*row.modes}]


@pytest.mark.parametrize("name", NAMES)
def test_both_modes_give_the_same(name: str) -> None:
    differing = []
    for seed in sampled(range(SEEDS), lambda n: f"{name} {n}", ONE_IN):
        texts = pair(seed, "single", name)
        gap = texts and difference(*texts)
        if texts and gap and not reason_of(texts[0], gap):
            differing.append(f"{gap.kind} at {gap.where}: static {gap.ours}, dynamic {gap.theirs}\n{texts[0]}")
    assert not differing, "\n\n".join(differing)


UNKNOWN = """# static
x0 = tensor("float32", [3, 4], [-0.2, 0.1, -0.7, 3.0, 2.2, -0.9, -1.4, 2.7, -0.9, 2.1, -2.3, 2.2], unknown=[0, 1])
x1 = tensor("float32", [3, 1], [0.5, -1.0, 2.0], unknown=[0, 1])
x2 = tensor("int64", [3], [5, 3, -2], unknown=[0])
v0 = {}"""
COUNTED = (
    "paddle.take(x0, x2)",
    "paddle.take(x0, x2 * 7, mode='wrap')",
    "paddle.take(x0, x2 * 7, mode='clip')",
    "paddle.linalg.cov(x0)",
    "paddle.linalg.corrcoef(x0)",
    "paddle.nn.functional.cosine_similarity(x0, x1)",
    "paddle.median(x0)",
    "paddle.median(x0, axis=1)",
    "paddle.var(x0)",
    "paddle.std(x0, axis=0)",
    "paddle.mean(x0)",
)


@pytest.mark.parametrize("call", COUNTED)
def test_sizes_are_those_of_the_run(call: str) -> None:
    static = UNKNOWN.format(call)
    lines = [line.partition(", unknown=")[0] + ")" if "unknown=" in line else line for line in static.splitlines()[1:]]
    assert run(static)["refused"] is None
    assert difference(static, "\n".join(["# eager", *lines])) is None


@pytest.mark.parametrize("call", ["paddle.fft.fftshift(x0)", "paddle.fft.ifftshift(x0)", "paddle.combinations(x2)"])
def test_a_size_that_decides_what_is_built_must_be_known(call: str) -> None:
    refused = run(UNKNOWN.format(call))["refused"]
    assert refused is not None
    assert "must be known" in refused["message"]


def test_a_difference_between_the_modes_is_found() -> None:
    text = '# static\nx0 = tensor("float32", [2], [1.0, 2.0], grad=True)\nv0 = x0 * x0\ngradients(["v0"], ["x0"])'
    other = '# eager\nx0 = tensor("float32", [2], [1.0, 2.0], grad=True)\nv0 = x0 * x0 * 2\ngrad(["v0"], ["x0"])'
    gap = difference(text, other)
    gradtool.paddle.disable_static()
    assert gap is not None
    assert gap.class_ == ("values value", "*")
