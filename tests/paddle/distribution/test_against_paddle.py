"""What Paddle's distributions and transforms answer, and ours: values, types, shapes and gradients."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle

from . import cases

RECORDED: dict[str, Any] = json.loads(Path(__file__).with_name("recorded.json").read_text(encoding="utf-8"))

MORE = {
    "D.Normal(t([0.1, -0.4]), 2.0)": "a number takes the type of the tensor beside it",
    "D.Beta(t([0.7, 1.3]), t([2.1, 0.6])).kl_divergence": "it has the formula of the function",
    "D.Dirichlet(t([[0.7, 1.3, 2.1], [1.0, 2.0, 3.0]])).kl_divergence": "it has the formula of the function",
    "D.Categorical(t([0.2, 0.5, 0.9])).batch_shape": "it has one, as every distribution",
    "D.Categorical(t([[0.2, 0.5, 0.9], [1.0, 0.4, 0.6]])).batch_shape": "it has one, as every distribution",
    "D.Independent(D.Normal(t([0.1, -0.4, 2.0]), t([0.7, 1.3, 2.1])), 1).rsample": "that of its base",
}
"""Where Paddle raises and gradtool answers."""

GRADIENTS = {
    "D.Bernoulli(t([0.1, 0.4, 0.8])).entropy()": "Paddle's lacks the part through the labels: ln q/p is right",
    "D.MultivariateNormal(t([0.1, -0.4]), precision_matrix=": "Paddle's is read from where nothing was written",
    "D.Geometric(t([0.3, 0.6])).variance": "Paddle has none",
    "D.Geometric(t([0.3, 0.6])).stddev": "Paddle has none",
    "D.StickBreakingTransform().inverse(": "Paddle's is a sum over positions that the way back does not have",
}
"""Where gradients differ, and why; all of them are held against differences below."""


VALUES = {
    "D.Geometric(t([0.3, 0.6])).kl_divergence": "Paddle's lacks the factor 1/p, the mean number of tries",
}
"""Where values differ, and why."""

COARSE = ("D.StickBreakingTransform()", "D.LKJCholesky(")
"""Where Paddle computes a part of float64 in float32."""


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("call", cases.questions(), ids=".".join)
def test_answers(call: tuple[str, str]) -> None:
    name = ".".join(call)
    theirs, ours = RECORDED[name], cases.answer(paddle, *call)
    if "raises" in theirs and not name.startswith(tuple(MORE)):
        assert theirs["raises"][0] in ours["raises"]
        return
    if "raises" in theirs:
        assert "raises" not in ours
        return
    for what in ("is", "dtype", "shape"):
        assert ours.get(what) == theirs.get(what), what
    if name.startswith(tuple(VALUES)):
        return
    exact = theirs.get("dtype", [""])[:1] == ["float64"] and not name.startswith(COARSE)
    for mine, other in zip(ours.get("values", []), theirs.get("values", []), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-9 if exact else 1e-5, atol=1e-12)
    if "crash" not in theirs and not name.startswith(tuple(GRADIENTS)):
        assert_same_gradients(ours.get("grads", []), theirs.get("grads", []), 1e-7 if exact else 1e-5)


def assert_same_gradients(ours: list[Any], theirs: list[Any], rtol: float) -> None:
    """None is a gradient of zero."""
    for mine, other in zip(ours or [None] * len(theirs), theirs or [None] * len(ours), strict=True):
        size = len(mine or other or [0])
        np.testing.assert_allclose(mine or [0.0] * size, other or [0.0] * size, rtol=rtol, atol=1e-12)


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("call", cases.draws(), ids=".".join)
def test_draws(call: tuple[str, str]) -> None:
    name = ".".join(call)
    theirs, ours = RECORDED[name], cases.answer(paddle, *call)
    if "raises" in theirs:
        assert name.startswith(tuple(MORE))
        assert "raises" not in ours
        return
    assert ours["dtype"] == theirs["dtype"]
    assert ours["shape"] == theirs["shape"]
    assert [grad is not None for grad in ours.get("grads", [])] == theirs["grads"]


@pytest.mark.sampled(2)
@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("call", [c for c in cases.questions() if "t(" in c[0] and "(" in c[1]], ids=".".join)
def test_gradients_are_differences(call: tuple[str, str]) -> None:
    """Of the sum of what comes, along one random direction through all leaves together."""
    made, asked = call
    ours = cases.answer(paddle, made, asked)
    if "grads" not in ours or made.startswith(("D.Uniform", "D.Bernoulli(t([0.0, 1.0]))")):
        return  # raises, has none, is a step or at an edge
    rng = np.random.default_rng(0)
    leaves = [np.asarray(leaf) for leaf in cases.leaves(paddle, made, asked)]
    ways = [rng.normal(size=leaf.shape) for leaf in leaves]
    if "MultivariateNormal" in made:
        ways = [way + way.T if way.ndim == 2 and "scale_tril" not in made else way for way in ways]
    step = 1e-6
    sides = [
        cases.weighted(paddle, made, asked, [x + s * step * w for x, w in zip(leaves, ways, strict=True)])
        for s in (1, -1)
    ]
    slope = sum(float(np.dot(g or [0.0] * w.size, w.ravel())) for g, w in zip(ours["grads"], ways, strict=True))
    np.testing.assert_allclose(slope, (sides[0] - sides[1]) / (2 * step), rtol=1e-5, atol=1e-6)
