"""Groups that read parts of wider arrays where they lie, and write arrays of parts: NumPy's bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.executor.lower import lower
from gradtool.engine.executor.plan import Plan
from gradtool.engine.kernels.choice import backend
from gradtool.engine.kernels.numba.compiling import compile_source
from gradtool.engine.kernels.numba.fused import FusedKernel, same
from gradtool.engine.kernels.numba.nodes import Untraceable
from tests.autodiff.nets import data, main
from tests.kernels.numba.interpreted import computing, running, tuned
from tests.kernels.numba.test_rows import all_computed, operand

F = paddle.nn.functional
RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.mark.parametrize(
    ("shape", "axis"), [((7, 24), 1), ((6, 5), 0), ((4, 6, 10), 1), ((2, 3, 4, 30), 3), ((1, 8), 1)]
)
def test_parts_are_read_where_they_lie_and_written_side_by_side(shape: tuple[int, ...], axis: int) -> None:
    x, y = (RNG.standard_normal(shape).astype("float32") for _ in range(2))
    row, column = (RNG.standard_normal(s).astype("float32") for s in (shape[-1:], (*shape[:-1], 1)))
    operands = [operand(i, *v.shape) for i, v in enumerate((x, y, row, column))]
    half = shape[axis] // 2

    def values(x: Any, y: Any, row: Any, column: Any) -> list[Any]:
        left, right = np.split(x * row - 1, [half], axis)
        if axis in (0, len(shape) - 1):
            left, right = np.split(x * row + column - 1, [half], axis)
        a, b = np.split(y, 2, axis)
        together = np.concatenate([np.tanh(left) * a, np.exp(right), b, left + right], axis)
        sums = [together.sum(tuple(range(axis)))] if axis and shape[0] > 1 else []
        return [together, *sums, np.tanh(b) + a]

    numpys, results = values(x, y, row, column), values(*operands)
    for by in (computing, running):
        assert all(map(same, numpys, all_computed(results, x, y, row, column, by=by)))


def test_parts_of_what_is_no_expression_are_numpys() -> None:
    x = operand(0, 4, 6)
    for whole in (np.tanh(x), x - x.sum(1, keepdims=True), np.concatenate([x, x], 1)):
        with pytest.raises(Untraceable):
            whole[:, 2:4]
    part = x[:, 2:4]
    for what in (lambda: part[:, :1], lambda: part.sum(0), lambda: part.max(1), lambda: np.vecdot(part, part)):
        with pytest.raises(Untraceable):
            what()
    for index in ((slice(None, None, 2),), (slice(1, 3), slice(0, 2)), (slice(4, 4),)):
        with pytest.raises(Untraceable):
            x[index]
    with pytest.raises(Untraceable):
        x[:, 2:3]
    with pytest.raises(Untraceable):
        np.concatenate([x[:, :, None], x[:, :, None]], 2)
    joined = np.concatenate([x, x + 1], 1)
    for what in (
        lambda: joined.sum(1),
        lambda: joined.max(0),
        lambda: joined.sum(),
        lambda: np.concatenate([x, part], 1),
    ):
        with pytest.raises(Untraceable):
            what()
    with pytest.raises(Untraceable):
        x + operand(1, 12)[6:]
    with pytest.raises(Untraceable):
        all_computed([joined * 2], np.ones((4, 6), "float32"))


def compared(fetches: list[Any], feeds: dict[str, Any]) -> list[FusedKernel]:
    """The groups of a plan, which gives what it gives on NumPy."""
    names = [v.name for v in fetches]
    numpys, of = (lower(main(), list(feeds), names, backend("numpy")) for _ in range(2))

    def run(plan: Plan) -> list[Any]:
        regs = plan.registers({n: v.copy() for n, v in feeds.items()}, {})
        plan.run(regs)
        return [regs[r] for r in plan.fetches]

    expected = run(numpys)
    kernels = tuned(of, of.registers({n: v.copy() for n, v in feeds.items()}, {}))
    for _ in range(2):
        assert all(map(same, expected, run(of)))
    assert not any(k.differs for k in kernels)
    return kernels


def types(kernels: list[FusedKernel]) -> list[list[str]]:
    return [[op.type for op in k.operators] for k in kernels]


def fed(*shapes: tuple[int, ...]) -> dict[str, Any]:
    return {f"x{i}": RNG.standard_normal(shape).astype("float32") for i, shape in enumerate(shapes)}


@pytest.mark.parametrize(("rows", "width"), [(1, 300), (30, 12)])
def test_a_recurrent_cell_and_its_gradient_are_groups(rows: int, width: int) -> None:
    feeds = fed((rows, 4 * width), (rows, 4 * width), (4 * width,), (rows, width))
    a, b, bias, cell = (data(n, *v.shape, dtype="float32") for n, v in feeds.items())
    i, f, u, q = paddle.split(a + b + bias, 4, axis=1)
    c = F.sigmoid(f) * cell + F.sigmoid(i) * paddle.tanh(u)
    h = F.sigmoid(q) * paddle.tanh(c)
    slopes = paddle.static.gradients([h * h], [a, bias, cell])
    groups = types(compared([h, *slopes], feeds))
    assert groups[0][:4] == ["elementwise_add", "elementwise_add", "split", "sigmoid"]
    assert "concat" in {kind for group in groups for kind in group}
    assert rows == 1 or groups[-1][-1] == "elementwise_add_grad"


def test_a_part_that_others_read_is_a_view() -> None:
    feeds = fed((5, 24))
    (x,) = (data(n, *v.shape, dtype="float32") for n, v in feeds.items())
    left, right = paddle.split(x * 2.0, 2, axis=1)
    y = F.gelu(left) * right  # the gradient reads both
    (slope,) = paddle.static.gradients([y * y], [x])
    groups = types(compared([y, slope, paddle.matmul(y, right, transpose_y=True)], feeds))
    assert "split" not in {kind for group in groups for kind in group}
    assert any({"gelu", "elementwise_mul"} <= set(group) for group in groups)


def test_what_is_computed_in_parts_is_looked_at_in_parts() -> None:
    feeds = fed((30, 48), (30, 48))
    a, b = (data(n, *v.shape, dtype="float32") for n, v in feeds.items())
    left, right = paddle.split(paddle.sqrt(a) + b, 2, axis=1)
    of = lower(main(), list(feeds), [(F.relu(left) * F.relu(right)).name], backend("numpy"))
    fine = {n: np.abs(v) for n, v in feeds.items()}
    (kernel,) = tuned(of, of.registers(fine, {}), compile_source)
    of.run(of.registers(fine, {}))
    assert "split" in types([kernel])[0]
    numbers = {r for m in kernel.members for r in m.outs}
    looking = kernel.judged(numbers, of.size, 1e3)
    assert looking is not None
    judge, verdicts, about = looking
    assert {r for m in kernel.members[:2] for r in m.outs} <= about  # the wide ones, which nothing else reads
    for place, value, fit in (
        (None, 1.0, True),
        ((3, 5), -1.0, False),
        ((29, 47), np.inf, False),
        ((7, 30), 1e7, False),
    ):
        x = fine["x0"].copy()
        if place is not None:
            x[place] = value
        with np.errstate(invalid="ignore"):
            given = judge(*[{"x0": x, "x1": fine["x1"]}[n] for n in ("x0", "x1")])
        assert all(v.all() for v in given[-len(verdicts) :]) is fit
