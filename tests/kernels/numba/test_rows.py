"""Groups that take rows as wholes: sums of products, elements that labels say, sums that are read: NumPy's bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.executor.lower import lower
from gradtool.engine.executor.plan import Plan
from gradtool.engine.kernels.choice import backend
from gradtool.engine.kernels.numba import layout
from gradtool.engine.kernels.numba.fused import FusedKernel, same
from gradtool.engine.kernels.numba.nodes import Untraceable
from gradtool.engine.kernels.numba.stages import MOST_STAGES, array_of, check, divide_stages
from gradtool.engine.kernels.numba.trace import Traced, trace_register
from tests.autodiff.nets import data, main
from tests.kernels.numba.interpreted import computing, running, tuned

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
    return trace_register(register, shape, np.dtype(dtype))


def computed(result: Traced, *operands: Any, by: Any = computing) -> Any:
    """What the functions that are generated for *result* give of *operands*, by registers."""
    return all_computed([result], *operands, by=by)[0]


def all_computed(results: list[Traced], *operands: Any, by: Any = computing) -> list[Any]:
    """The same of several results of one nest of loops."""
    nodes, stages = divide_stages([r.node for r in results])
    shapes = [r.shape for r in results] + [(layout.count(n.layout),) for n in nodes[len(results) :]]
    arrays = [np.zeros(shape, n.dtype) for shape, n in zip(shapes, nodes, strict=True)]
    for stage in stages:
        inner = [array_of(r) for r in stage.source.leaves]
        given = [operands[r] if i is None else arrays[i] for r, i in zip(stage.source.leaves, inner, strict=True)]
        given += [arrays[i] for i in stage.results]
        by(stage.source, [a.dtype.name for a in given])(*given)
    return arrays[: len(results)]


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


LENGTHS = [2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 127, 128, 129, 137, 255, 264, 272, 1000, 1033, 8191, 8192]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_and_extremes_of_rows_of_every_length_are_numpys(
    dtype: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for length in LENGTHS:
        x = (RNG.standard_normal((7, length)) * 1e3).astype(dtype)
        x[1], x[2] = -np.abs(x[1]), -0.0
        x[2, RNG.integers(length, size=length // 3)] = 0.0  # zeros of both signs
        x[3, length // 2], x[4, -1], x[4, 0], x[5, length // 3] = np.nan, np.inf, -np.inf, -np.nan
        a = operand(0, 7, length, dtype=dtype)
        with np.errstate(all="ignore"):
            expected = [x.sum(1), x.max(1), x.min(1)]
        for numpys, here in zip(expected, all_computed([a.sum(1), a.max(1), a.min(1)], x, by=running), strict=True):
            assert same(numpys, here), length


@pytest.mark.parametrize("shape", [(37, 20), (5, 3, 64), (3, 2, 40, 9), (2, 512)])
def test_short_rows_that_are_gone_through_together_are_numpys(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    x, bias = RNG.standard_normal(shape).astype("float32"), RNG.standard_normal(shape[-1:]).astype("float32")
    weights = RNG.standard_normal((*shape[:-2], 1, shape[-1])).astype("float32")
    labels = RNG.integers(shape[-1], size=x.size // shape[-1])
    operands = [operand(i, *v.shape, dtype=v.dtype.name) for i, v in enumerate((x, bias, weights, labels))]

    def values(x: Any, bias: Any, weights: Any, labels: Any) -> list[Any]:
        shares = np.exp(x * weights - x.max(-1, keepdims=True))
        total = shares.sum(-1, keepdims=True)  # read behind the calls that follow
        power = np.power(total, np.float32(0.3))
        logs = np.log(total) * 2 + np.exp(bias)  # one for each row, and the same for all rows
        mixed = np.power(np.abs(x), 1 / total)  # an element and the number of its row
        rows = shares.reshape(-1, shape[-1])
        chosen = rows[np.arange(rows.shape[0]), labels]
        return [np.tanh(shares / total) + mixed * power, logs - x, np.log(chosen), np.exp(-mixed)]

    numpys, results = values(x, bias, weights, labels), values(*operands)
    for by in (computing, running):
        assert all(map(same, numpys, all_computed(results, x, bias, weights, labels, by=by)))


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


# -- sums over rows that are read -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_over_both_ends_are_numpys(dtype: str) -> None:
    x = (RNG.standard_normal((5, 3, 170)) * 100).astype(dtype)
    a = operand(0, 5, 3, 170, dtype=dtype)
    assert same(computed(np.add.reduce(a * a, (0, 2)), x), np.add.reduce(x * x, (0, 2)))
    assert same(computed(np.add.reduce(np.vecdot(a, a), 0), x), np.add.reduce(np.vecdot(x, x), 0))
    assert same(computed((a + 1).sum((2, 0), keepdims=True), x), (x + 1).sum((2, 0), keepdims=True))
    assert same(computed(a - a.sum((0, 2), keepdims=True) / 7, x), x - x.sum((0, 2), keepdims=True) / 7)
    centred, expected = a - np.vecdot(a, a).sum(0)[:, None], x - np.vecdot(x, x).sum(0)[:, None]
    again = (centred * centred).sum((0, 2), keepdims=True)
    assert same(computed(again * centred, x), (expected * expected).sum((0, 2), keepdims=True) * expected)


def test_what_is_computed_for_each_row_again_is_numpys() -> None:
    a, rows = operand(0, 5, 3, 20), operand(1, 9, 7)
    sums = np.add.reduce(a, (0, 2))
    with pytest.raises(Untraceable):
        check([], [(sums * 2).node])  # a number for each channel, once for each image
    check([], [sums.node, (a * sums[:, None]).node])
    with pytest.raises(Untraceable):
        divide_stages([(rows - (rows + 1).sum(0) / 9).node])  # one for each element of a row
    with pytest.raises(Untraceable):
        divide_stages([(rows * np.vecdot(rows, rows).sum()).node])  # NumPy adds those up by parts
    grown = np.tanh(a)
    with pytest.raises(Untraceable):
        divide_stages([(grown - np.add.reduce(grown, (0, 2), keepdims=True)).node])  # twice the function
    deep = a
    for _ in range(MOST_STAGES):
        deep = deep - np.add.reduce(deep, (0, 2), keepdims=True)
    with pytest.raises(Untraceable):
        divide_stages([deep.node])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_batch_norm_and_its_neighbours_are_one_group(dtype: str) -> None:
    shape = (4, 3, 5, 6)
    x = data("x", *shape, dtype=dtype)
    scale, shift = (paddle.create_parameter([3], dtype) for _ in range(2))
    mean, variance = (paddle.static.create_global_var([3], v, dtype, persistable=True) for v in (0.0, 1.0))
    h = F.batch_norm(paddle.scale(x, 1.5), mean, variance, scale, shift, training=True)
    y = F.relu(h)
    slopes = paddle.static.gradients([y * y], [x, scale, shift])
    fetches = [v.name for v in (y, mean, variance, *slopes)]
    numpys, of = (lower(main(), ["x"], fetches, backend("numpy")) for _ in range(2))
    held = {v.name: RNG.standard_normal(3).astype(dtype) for v in (scale, shift, mean)}
    held[variance.name] = np.full(3, 0.5, dtype)

    def registers(plan: Plan, scaled: float = 1.0, strange: float = 0.0) -> Any:
        fed = np.random.default_rng(1).standard_normal(shape).astype(dtype) * dtype_of(scaled)
        fed[1, 2, 3, 4] += dtype_of(strange)
        return plan.registers({"x": fed}, {n: v.copy() for n, v in held.items()})

    dtype_of = np.dtype(dtype).type
    (kernel,) = [k for k in tuned(of, registers(of)) if "batch_norm" in grouped_types([k])]
    assert {"scale", "batch_norm", "relu", "relu_grad", "batch_norm_grad"} <= grouped_types([kernel])
    assert len(kernel.sources) == 4
    for of_x in ((1.0, 0.0), (1e-30, 0.0), (1.0, np.nan), (1e30, np.inf)):
        results = []
        for plan in (numpys, of):
            regs = registers(plan, *of_x)
            with np.errstate(all="ignore"):
                plan.run(regs)
            results.append([regs[r] for r in plan.fetches])
        assert all(map(same, *results))
    assert not kernel.differs
