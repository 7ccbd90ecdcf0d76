"""A recorded pass repeats what rules computed before: the same values, the same graph and the same lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.eager import repeated_rules
from gradtool.engine.eager.recorded_calls import nodes_behind
from gradtool.engine.eager.tensor import Tensor

F = paddle.nn.functional


@pytest.fixture(autouse=True)
def dynamic(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    paddle.disable_static()
    monkeypatch.setattr(repeated_rules, "in_use", set())  # whatever types other tests have used
    repeated_rules._plans.clear()
    repeated_rules._asked.clear()
    yield
    paddle.enable_static()


MODELS: dict[str, Callable[[Any, Any], Any]] = {
    "products": lambda x, w: paddle.tanh(paddle.matmul(x, w)) * w,
    "one operand twice": lambda x, w: x * x * w,
    "broadcast": lambda x, w: (x * x * w[0] + x.sum(0)) / (w * w + 1.0),
    "masks": lambda x, w: F.relu(x * w) * paddle.maximum(x, w),
    "lists": lambda x, w: paddle.concat([x * w, paddle.exp(x)], 0),
    "several results": lambda x, w: F.layer_norm(x * w, [3]),
    "parts": lambda x, w: paddle.reshape(x * w, [9])[2:] ** 3,
}


def leaves(rng: np.random.Generator, rows: int = 3) -> list[Tensor]:
    return [paddle.to_tensor(rng.standard_normal((rows, 3)), stop_gradient=False) for _ in range(2)]


def derivatives(model: Callable[[Any, Any], Any], x: Tensor, w: Tensor) -> list[Any]:
    """The first, the second and the third derivatives, and the operators that recording the second has left."""
    (first,) = paddle.grad(model(x, w).sum(), x, create_graph=True)
    (second,) = paddle.grad((first * first).sum(), x, create_graph=True)
    calls = [(node.op.type, node.loc) for node in nodes_behind([second])] if second.node is not None else []
    third = paddle.grad((second * second * w).sum(), [x, w], allow_unused=True)
    return [[first, second, *third], calls]


@pytest.mark.parametrize("name", MODELS)
def test_later_passes_are_the_first(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    operands = [leaves(rng, rows) for rows in (3, 3, 3, 3, 3)]
    here = [derivatives(MODELS[name], *pair) for pair in operands]
    monkeypatch.setattr(repeated_rules, "pull_recorded", lambda *args: None)
    asked = [derivatives(MODELS[name], *pair) for pair in operands]
    for (values, calls), (expected, their_calls) in zip(here, asked, strict=True):
        assert [t for t, _ in calls] == [t for t, _ in their_calls]
        assert [place for _, place in calls] == [place for _, place in their_calls]
        for a, b in zip(values, expected, strict=True):
            assert (a is None) == (b is None)
            assert a is None or np.array_equal(a.numpy(), b.numpy())


def test_what_is_repeated_and_what_is_asked() -> None:
    rng = np.random.default_rng(4)
    for _ in range(3):
        derivatives(MODELS["products"], *leaves(rng))
    repeatable = {key[0].recipe.op.type for key, plan in repeated_rules._plans.items() if plan is not None}
    assert {"tanh", "matmul_v2", "elementwise_mul"} <= repeatable
    for _ in range(3):
        derivatives(MODELS["masks"], *leaves(rng))
    assert {"relu", "elementwise_max"} <= {key[0].recipe.op.type for key in repeated_rules._asked}


def test_other_shapes_and_types_are_other_rules() -> None:
    rng = np.random.default_rng(5)
    for _ in range(3):
        derivatives(MODELS["broadcast"], *leaves(rng))
    x = paddle.to_tensor(rng.standard_normal((5, 3)).astype("float32"), stop_gradient=False)
    w = paddle.to_tensor(rng.standard_normal((1, 3)).astype("float32"), stop_gradient=False)
    for _ in range(4):
        ((second, *_), _) = derivatives(lambda x, w: x * w * x, x, w)
        assert second.dtype == paddle.float32
        assert second.shape == [5, 3]


def test_a_write_between_is_told() -> None:
    rng = np.random.default_rng(6)
    for _ in range(4):
        x, w = leaves(rng)
        h = x * 2.0
        y = paddle.exp(w) * h
        h.add_(w)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            paddle.grad(y.sum(), w, create_graph=True)
