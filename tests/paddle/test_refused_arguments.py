"""Arguments that Paddle 3.3.1 refuses, and that were taken in dynamic mode."""

from __future__ import annotations

from typing import Any

import pytest

from gradtool import paddle

pytestmark = pytest.mark.usefixtures("dynamic")


def ones(*shape: int) -> Any:
    return paddle.ones(list(shape))


@pytest.mark.parametrize("shapes", [((2,), (2, 2)), ((2, 2), (2,)), ((2, 2, 2), (2, 2)), ((), (2, 2))])
def test_addmm_takes_matrices(shapes: Any) -> None:
    x, y = (ones(*s) for s in shapes)
    with pytest.raises(ValueError, match=r"addmm: [XY] .* must have two dimensions"):
        paddle.addmm(ones(2, 2), x, y)
    with pytest.raises(ValueError, match=r"addmm: [XY] .* must have two dimensions"):
        ones(2, 2).addmm_(x, y)


def test_addmm_takes_a_vector_to_add() -> None:
    assert paddle.addmm(ones(2), ones(2, 3), ones(3, 2)).tolist() == [[4.0, 4.0], [4.0, 4.0]]


@pytest.mark.parametrize("shapes", [((2, 2), (3, 2, 2)), ((3, 2, 2), (2, 2)), ((2, 2), (2, 2)), ((1, 2, 2), (3, 2, 2))])
def test_bmm_takes_batches_of_one_size(shapes: Any) -> None:
    x, y = (ones(*s) for s in shapes)
    for call in (lambda: paddle.bmm(x, y), lambda: x.bmm(y)):
        for _ in range(2):  # what was refused once is not remembered as right
            with pytest.raises(ValueError, match=r"bmm: .* must have three dimensions|hold different numbers"):
                call()


@pytest.mark.parametrize("limit", [-1.0, 0.0, float("nan")])
def test_clipping_by_a_norm_that_is_none(limit: float) -> None:
    layer = paddle.nn.Linear(2, 2)
    clip = paddle.nn.ClipGradByNorm(limit)
    with pytest.raises(ValueError, match="max_norm must be greater than 0"):
        clip([(layer.weight, ones(2, 2))])
    rule = paddle.optimizer.SGD(0.1, parameters=layer.parameters(), grad_clip=clip)
    layer(ones(1, 2)).sum().backward()
    with pytest.raises(ValueError, match="max_norm must be greater than 0"):
        rule.step()
