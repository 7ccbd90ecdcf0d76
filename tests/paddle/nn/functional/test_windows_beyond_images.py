"""Windows that lie in padding, filters larger than the image: values, gradients and refusals are Paddle's.

Where there is nothing to convolve or pool, the result is empty; a division that cuts off towards zero makes one window
of a filter that is too large by less than a step.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import ShapeError
from gradtool.engine.executor.scope import Scope, scope_guard
from gradtool.engine.ir import default
from gradtool.paddle import static
from tests.paddle.nn.functional.record_windows import CASES, OUT, outcome, values

F = paddle.nn.functional
RECORDED: dict[str, dict[str, Any]] = json.loads(OUT.read_text(encoding="utf-8"))
COMPUTED = [name for name, said in RECORDED.items() if "refused" not in said]


def compare(name: str, shape: list[int], value: Any, gradients: list[Any]) -> None:
    theirs = RECORDED[name]
    assert list(shape) == theirs["shape"]
    np.testing.assert_allclose(np.reshape(value, shape), np.reshape(theirs["value"], shape), rtol=1e-6, atol=1e-9)
    assert [np.shape(g) for g in gradients] == [v.shape for v in values(name)]
    if theirs["gradients"] is None:
        assert not np.size(value)
    expected = theirs["gradients"] or [np.zeros(v.shape) for v in values(name)]
    for ours, e in zip(gradients, expected, strict=True):
        np.testing.assert_allclose(ours, np.reshape(e, np.shape(ours)), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", RECORDED)
def test_as_recorded_in_dynamic_mode(name: str) -> None:
    paddle.disable_static()
    ours = outcome(paddle, name)
    if "refused" in RECORDED[name]:
        assert ours == {"refused": True}
        return
    compare(
        name,
        ours["shape"],
        ours["value"],
        [np.reshape(g, v.shape) for g, v in zip(ours["gradients"], values(name), strict=True)],
    )


@pytest.mark.parametrize("unknown", [False, True])
def test_as_recorded_in_static_mode(unknown: bool) -> None:
    """What is declared is what comes, whether the sizes are known when the program is built or not."""
    paddle.enable_static()
    for name in COMPUTED:
        with default.fresh_programs() as (main, _), scope_guard(Scope()):
            arrays = values(name)
            declared = [list(v.shape) for v in arrays]
            if unknown:
                at = slice(1, -1) if "NHWC" in name else slice(2, None)
                declared[0][at] = [-1] * (arrays[0].ndim - 2)
            fed = [static.data(f"v{i}", s, "float64") for i, s in enumerate(declared)]
            for v in fed:
                v.stop_gradient = False
            result = CASES[name][1](F, *fed)
            grads = static.gradients([result.sum()], fed)
            feed = {f"v{i}": v for i, v in enumerate(arrays)}
            value, *gradients = static.Executor().run(main, feed=feed, fetch_list=[result, *grads])
            assert all(n in (-1, m) for n, m in zip(result.shape, value.shape, strict=True)), name
            assert unknown or tuple(result.shape) == value.shape
            compare(name, list(value.shape), value, gradients)


def test_the_record_is_complete() -> None:
    missing = CASES.keys() - RECORDED.keys()
    assert not RECORDED.keys() - CASES.keys()
    assert all("conv2d" in name for name in missing), "Paddle's process ends in convolutions only"


@pytest.mark.parametrize("size", [1, 3])
def test_where_paddle_s_process_ends_a_convolution_is_refused(size: int) -> None:
    paddle.disable_static()
    x = paddle.ones([1, 2, 4, 4])
    with pytest.raises(ShapeError, match="does not fit"):
        F.conv2d(x, paddle.ones([2, 2, 5 + size, 5]))
    with pytest.raises(ShapeError, match="less than nothing is left"):
        F.conv2d_transpose(paddle.ones([1, 2, 1, size]), paddle.ones([2, 3, 2, 2]), padding=2)


def test_a_maximum_in_padding_has_no_place() -> None:
    """Paddle does not come back from this call."""
    paddle.disable_static()
    with pytest.raises(ShapeError, match="no maximum has a place"):
        F.max_pool2d(paddle.ones([1, 1, 4, 4]), 2, 5, 1, ceil_mode=True, return_mask=True)


def test_second_derivatives_pass_by_windows_in_padding() -> None:
    paddle.disable_static()
    x = paddle.to_tensor(np.arange(16.0).reshape(1, 1, 4, 4), stop_gradient=False)
    weight = paddle.to_tensor(np.ones((1, 1, 2, 2)), stop_gradient=False)
    for pool in (F.avg_pool2d, F.max_pool2d):
        (first,) = paddle.grad([pool(x, 2, 5, 1, ceil_mode=True)], [x], [weight], create_graph=True)
        (second,) = paddle.grad([(first * 3).sum()], [weight])
        np.testing.assert_array_equal(second.numpy(), [[[[3.0, 0.0], [0.0, 0.0]]]])
