"""Updates of large parameters by blocks: the values of updates of whole tables, to the bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core import watch
from gradtool.paddle.optimizer import _blocks

pytestmark = pytest.mark.usefixtures("dynamic")

SIZE = (3, 85)
"""Of the parameter: more than two blocks, and a rest."""

RULES: dict[str, Callable[[Any], Any]] = {
    "SGD": lambda p: paddle.optimizer.SGD(0.1, p, weight_decay=paddle.regularizer.L1Decay(0.1)),
    "Momentum": lambda p: paddle.optimizer.Momentum(0.1, 0.9, p, weight_decay=0.2, use_nesterov=True),
    "Adam": lambda p: paddle.optimizer.Adam(0.1, parameters=p, weight_decay=0.2),
    "Adam with the largest": lambda p: paddle.optimizer.Adam(0.1, parameters=p, amsgrad=True),
    "AdamW": lambda p: paddle.optimizer.AdamW(0.1, parameters=p),
    "Adamax": lambda p: paddle.optimizer.Adamax(0.1, parameters=p),
    "Adagrad": lambda p: paddle.optimizer.Adagrad(0.1, parameters=p, initial_accumulator_value=0.1),
    "Adadelta": lambda p: paddle.optimizer.Adadelta(0.1, parameters=p),
    "RMSProp": lambda p: paddle.optimizer.RMSProp(0.1, parameters=p, momentum=0.5, centered=True),
}


def trained(rule: Callable[[Any], Any], dtype: str = "float32") -> tuple[Any, Any]:
    """A parameter and its optimizer after three steps."""
    rng = np.random.default_rng(3)
    value = paddle.nn.initializer.Assign(rng.normal(size=SIZE).astype("float32"))
    p = paddle.create_parameter(list(SIZE), dtype, name="p", default_initializer=value)
    optimizer = rule([p])
    for _ in range(3):
        (p.astype("float32") ** 3 * paddle.to_tensor(rng.normal(size=SIZE).astype("float32"))).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
    return p, optimizer


def arrays(p: Any, optimizer: Any) -> list[Any]:
    state = optimizer.state_dict()
    masters = state.pop("master_weights", {})
    return [p.numpy(), *(state[name].numpy() for name in sorted(state)), *(v.numpy() for v in masters.values())]


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_blocks, "BLOCK", 100)
    monkeypatch.setattr(_blocks, "LARGE", 200)


@pytest.mark.parametrize("name", RULES)
def test_blocks_give_the_values_of_the_whole(name: str, request: pytest.FixtureRequest) -> None:
    whole = arrays(*trained(RULES[name]))
    request.getfixturevalue("small_blocks")
    parts = arrays(*trained(RULES[name]))
    assert len(whole) == len(parts) > (name != "SGD")
    for a, b in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(a, b)


def test_narrow_parameters_that_are_kept_in_float32(request: pytest.FixtureRequest) -> None:
    def rule(p: Any) -> Any:
        return paddle.optimizer.Adam(0.1, parameters=p, multi_precision=True)

    whole = arrays(*trained(rule, "float16"))
    request.getfixturevalue("small_blocks")
    for a, b in zip(whole, arrays(*trained(rule, "float16")), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.usefixtures("small_blocks")
def test_what_shares_the_parameters_storage_sees_the_new_values() -> None:
    p, optimizer = trained(RULES["SGD"])
    shared = p.detach()
    version = p.inplace_version
    p.sum().backward()
    optimizer.step()
    assert np.array_equal(shared.numpy(), p.numpy())
    assert p.inplace_version == version + 1


@pytest.mark.usefixtures("small_blocks")
def test_whoever_watches_sees_the_whole_tensors_written() -> None:
    p, optimizer = trained(RULES["Adam"])
    p.sum().backward()
    written: list[Any] = []
    with watch.watch(tensors=lambda event: isinstance(event, watch.Written) and written.append(event.tensor)):
        optimizer.step()
    assert any(tensor is p for tensor in written)
    assert {tuple(tensor.shape) for tensor in written} == {SIZE, (1,)}
