"""``gradcheck`` of what dynamic mode has recorded, on JAX: its gradients compared with differences that it computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.core import settings
from gradtool.engine.kernels import backend as backends

pytestmark = pytest.mark.usefixtures("dynamic")


@pytest.fixture(autouse=True)
def _chosen() -> Iterator[None]:
    with settings.keep_settings():
        yield


class _Half(paddle.autograd.PyLayer):  # type: ignore[misc,name-defined]
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        (x,) = ctx.saved_tensor()
        return gradient * x


def _model(last: Callable[[Any], Any]) -> Callable[[], Any]:
    paddle.seed(2)
    net = paddle.nn.Sequential(paddle.nn.Linear(4, 6), paddle.nn.Tanh(), paddle.nn.Linear(6, 3))
    x = paddle.rand([3, 4])
    return lambda: last(net(x))


def _told(model: Callable[[], Any], backend: str, order: int) -> list[tuple[Any, ...]]:
    gradtool.set_backend(backend)
    entries = gradtool.gradcheck(model, order=order).entries
    return [(e.name, e.order, e.status, e.cause, e.suspect, e.index) for e in entries]


def test_verdicts_are_those_of_numpy() -> None:
    for last in (lambda y: (paddle.nn.functional.dropout(y, 0.5) ** 2).sum(), lambda y: _Half.apply(y).sum()):
        model = _model(last)
        here, there = _told(model, "jax", 2), _told(model, "numpy", 2)
        assert [line[:-1] for line in here] == [line[:-1] for line in there]
        assert {line[2] for line in here} == ({"wrong"} if "factor" in here[0][3] else {"ok"})


def test_a_wrong_gradient_of_the_backend_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        backends._overrides, ("tanh_grad", "jax"), lambda attrs, specs: lambda out, dout: dout * (1 - out)
    )
    model = _model(lambda y: (y * y).sum())
    assert {line[2] for line in _told(model, "numpy", 1)} == {"ok"}
    found = {line[0]: line[2] for line in _told(model, "jax", 1)}
    assert found == {"0.weight": "wrong", "0.bias": "wrong", "2.weight": "ok", "2.bias": "ok"}
