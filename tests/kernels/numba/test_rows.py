"""Groups that take rows as wholes: sums of products, and elements that labels say; NumPy's results to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtool as paddle
from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.executor.lower import lower
from gradtool.engine.executor.plan import Plan
from gradtool.engine.kernels.choice import backend
from gradtool.engine.kernels.numba.fused import FusedKernel, same
from gradtool.engine.kernels.numba.source import generated
from gradtool.engine.kernels.numba.trace import Traced, Untraceable, traced
from tests.autodiff.nets import data, main
from tests.kernels.numba.interpreted import interpreted, tuned

F = paddle.nn.functional
RNG = np.random.default_rng(0)
X = RNG.standard_normal((5, 6)).astype("float32")


def losses(label: str) -> list[Plan]:
    """Two plans of the loss for labels, the softmax and the gradient by the scores, of computed scores."""
    x = data("x", 5, 6, dtype="float32")
    classes = paddle.static.data("label", [5, 1], label)
    loss, softmax = F.softmax_with_cross_entropy(paddle.tanh(x), classes, return_softmax=True)
    (slope,) = paddle.static.gradients([loss * 3.0], [x])
    fetches = [loss.name, softmax.name, slope.name]
    return [lower(main(), ["x", "label"], fetches, backend("numpy")) for _ in range(2)]


def outcome(of: Plan, label: Any) -> Any:
    """What the plan gives, or how it fails."""
    regs = of.registers({"x": X.copy(), "label": label}, {})
    try:
        of.run(regs)
    except GradtoolError as error:
        return str(error).splitlines()
    return [np.asarray(regs[r]) for r in of.fetches]


def grouped_types(kernels: list[FusedKernel]) -> set[str]:
    return {op.type for k in kernels for op in k.operators}


LABELS = np.array([[0], [5], [2], [2], [1]])


@pytest.mark.parametrize("dtype", ["int64", "int32"])
def test_losses_pick_elements_by_labels(dtype: str) -> None:
    numpys, of = losses(dtype)
    kernels = tuned(of, of.registers({"x": X.copy(), "label": LABELS.astype(dtype)}, {}))
    assert {"softmax_with_cross_entropy", "softmax_with_cross_entropy_grad"} <= grouped_types(kernels)
    others = LABELS.copy()
    others[3] = -100  # to be ignored
    for label in (LABELS, LABELS[::-1].copy(), others):
        expected, results = outcome(numpys, label.astype(dtype)), outcome(of, label.astype(dtype))
        assert all(map(same, expected, results))
    assert not any(k.differs for k in kernels)
    for wrong in (6, -1, -(2**31)):
        label = LABELS.copy()
        label[4] = wrong
        expected, results = outcome(numpys, label.astype(dtype)), outcome(of, label.astype(dtype))
        assert isinstance(expected[0], str)
        assert expected == results


def test_labels_that_were_computed_are_numpys() -> None:
    x = data("x", 5, 6, dtype="float32")
    classes = paddle.static.data("label", [5, 1], "int64")
    loss = F.softmax_with_cross_entropy(paddle.tanh(x) * 2.0, classes * 1)
    of = lower(main(), ["x", "label"], [loss.name], backend("numpy"))
    kernels = tuned(of, of.registers({"x": X.copy(), "label": LABELS}, {}))
    assert "softmax_with_cross_entropy" not in {op.type for k in kernels for op in k.operators if len(k.operators) > 1}


def operand(register: int, *shape: int, dtype: str = "float32") -> Traced:
    return traced(register, shape, np.dtype(dtype))


def computed(result: Traced, *arrays: Any) -> Any:
    """What the function that is generated for *result* gives of *arrays*, by registers."""
    source = generated([result.node])
    out = np.empty(result.shape, result.dtype)
    operands = [arrays[r] for r in source.leaves]
    interpreted(source, [a.dtype.name for a in (*operands, out)])(*operands, out)
    return out


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_of_rows_are_numpys(dtype: str) -> None:
    x, y = (RNG.standard_normal((7, 37)).astype(dtype) for _ in range(2))
    v = y[0].copy()
    a, b, c = operand(0, 7, 37, dtype=dtype), operand(1, 7, 37, dtype=dtype), operand(2, 37, dtype=dtype)
    ones = np.ones(37, dtype)
    assert same(computed(np.vecdot(a, b), x, y, v), np.vecdot(x, y))
    assert same(computed(np.vecdot(a, c), x, y, v), np.vecdot(x, v))
    assert same(computed(np.vecdot(a, ones), x, y, v), np.vecdot(x, ones))
    assert same(computed(np.exp(np.vecdot(a * b, ones)) + 1, x, y, v), np.exp(np.vecdot(x * y, ones)) + 1)
    assert same(computed(a - np.vecdot(a * b, a)[:, None], x, y, v), x - np.vecdot(x * y, x)[:, None])


def test_what_is_no_product_of_rows_in_one_nest_of_loops_is_numpys() -> None:
    x, column = operand(0, 4, 6), operand(1, 4, 1)
    with pytest.raises(Untraceable):
        np.vecdot(column, column)
    with pytest.raises(Untraceable):
        np.vecdot(x, column)
    with pytest.raises(Untraceable):
        np.vecdot(x, np.ones(6))  # in another type
    with pytest.raises(Untraceable):
        computed(np.vecdot(x.reshape(2, 12), x.reshape(2, 12)) + np.vecdot(x, x).reshape(2, 2).sum(1))


def test_elements_that_are_not_one_of_each_row_are_numpys() -> None:
    x, label = operand(0, 4, 6), operand(1, 4, dtype="int64")
    for index in [(np.arange(4)[::-1].copy(), label), (label, label), (np.arange(4), label + 1), label]:
        with pytest.raises(Untraceable):
            x[index]
    with pytest.raises(Untraceable):
        x[np.arange(4), label] = 1  # an operand is not written
    y = x + 1
    with pytest.raises(Untraceable):
        y[np.arange(4)] = 1
    values = np.arange(24, dtype="float32").reshape(4, 6)
    labels = np.array([3, 0, 5, 5])
    y[np.arange(4), label] -= 1
    expected = values + 1
    expected[np.arange(4), labels] -= 1
    assert same(computed(y, values, labels), expected)
    assert same(computed(np.exp(x)[np.arange(4), label], values, labels), np.exp(values)[np.arange(4), labels])
