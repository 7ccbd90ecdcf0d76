"""Calls that were refused although Paddle 3.3.1 computes them: values and gradients, in both modes.

Where Paddle's own numbers are wrong, a comment says so and they are those of torch 2.13 or of arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.executor.scope import Scope, scope_guard
from gradtool.engine.ir import default
from gradtool.paddle import static

F = paddle.nn.functional
WAVES = np.sin(np.arange(12.0)).reshape(4, 3).astype("float32")


def dynamically(function: Callable[..., Any], *values: Any) -> list[Any]:
    """The result of *function* and the gradients of its sum by every floating-point value."""
    paddle.disable_static()
    tensors = [paddle.to_tensor(v, stop_gradient=v.dtype.kind != "f") for v in values]
    result = function(*tensors)
    result.sum().backward()
    return [result.numpy(), *(t.grad.numpy() for t in tensors if not t.stop_gradient)]


def statically(function: Callable[..., Any], *values: Any) -> list[Any]:
    """The same of a program."""
    paddle.enable_static()
    try:
        with default.fresh_programs() as (main, _), scope_guard(Scope()):
            fed = [static.data(f"v{i}", v.shape, str(v.dtype)) for i, v in enumerate(values)]
            for v in fed:
                v.stop_gradient = not v.dtype.is_floating
            result = function(*fed)
            grads = static.gradients([result.sum()], [v for v in fed if not v.stop_gradient])
            feed = {f"v{i}": v for i, v in enumerate(values)}
            return static.Executor().run(main, feed=feed, fetch_list=[result, *grads])  # type: ignore[no-any-return]
    finally:
        paddle.disable_static()


BOTH = pytest.mark.parametrize("run", [dynamically, statically])


def compare(results: list[Any], *expected: Any) -> None:
    assert len(results) == len(expected)
    for f, e in zip(results, expected, strict=True):
        assert f.shape == np.shape(e)
        np.testing.assert_allclose(f, e, rtol=2e-4, atol=6e-5)


# -- None -------------------------------------------------------------------------------------------------------------


def test_a_tensor_is_not_none() -> None:
    paddle.disable_static()
    for x in (paddle.to_tensor([1.0]), paddle.ones([0]), paddle.to_tensor(1)):
        assert (x == None) is False  # noqa: E711
        assert (x != None) is True  # noqa: E711
        assert None in [x, None]
    with pytest.raises(TypeError, match="takes a Tensor or a number, but received NoneType"):
        x < None  # noqa: B015


def test_a_variable_is_not_none() -> None:
    paddle.enable_static()
    try:
        with default.fresh_programs() as (main, _):
            x = static.data("x", [2])
            assert (x == None) is False  # noqa: E711
            assert (x != None) is True  # noqa: E711
            assert main.global_block().ops == []
    finally:
        paddle.disable_static()


# -- normalisation ----------------------------------------------------------------------------------------------------

SQUARES = (np.arange(12.0).reshape(1, 2, 6) ** 2).astype("float32")
STANDARD = (SQUARES - SQUARES.mean(2, keepdims=True)) / np.sqrt(SQUARES.var(2, keepdims=True) + 1e-5)


@BOTH
def test_instance_norm_with_weight_alone(run: Any) -> None:
    # Paddle computes the values, and no gradient for the weight.
    results = run(lambda x, w: F.instance_norm(x, weight=w), SQUARES, np.array([2.0, 3.0], "float32"))
    compare(results, STANDARD * np.array([[2.0], [3.0]]), np.zeros_like(SQUARES), STANDARD.sum((0, 2)))
    results = run(lambda x, w: F.instance_norm(x, weight=w) ** 3, SQUARES, np.array([2.0, 3.0], "float32"))
    slopes = [[2.0328, 1.2383, -0.736, -2.663, -2.4971, 2.6251], [3.0575, 0.0065, -2.139, -2.7897, -1.2779, 3.1428]]
    compare(results[1:2], [slopes])


@BOTH
def test_instance_norm_with_bias_alone(run: Any) -> None:
    results = run(lambda x, b: F.instance_norm(x, bias=b), SQUARES, np.array([2.0, 3.0], "float32"))
    compare(results, STANDARD + np.array([[2.0], [3.0]]), np.zeros_like(SQUARES), [6.0, 6.0])
    results = run(lambda x, b: F.instance_norm(x, bias=b) ** 3, SQUARES, np.array([2.0, 3.0], "float32"))
    slopes = [[0.2541, 0.1548, -0.092, -0.3329, -0.3121, 0.3281], [0.1132, 0.0002, -0.0792, -0.1033, -0.0473, 0.1164]]
    compare(results[1:2], [slopes])


# -- empty tensors ----------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("function", [F.softmax, F.log_softmax], ids=["softmax", "log_softmax"])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0,), (2, 0, 3)])
@pytest.mark.parametrize("axis", [0, -1])
def test_softmax_of_nothing(run: Any, function: Any, shape: tuple[int, ...], axis: int) -> None:
    empty = np.zeros(shape, "float32")
    compare(run(lambda x: function(x, axis=axis), empty), empty, empty)


@BOTH
@pytest.mark.parametrize(
    ("shape", "axis", "keepdim", "result"),
    [
        ((0, 3), 1, False, np.zeros(0)),
        ((0, 3), 0, False, np.full(3, -np.inf)),
        ((0, 3), None, False, -np.inf),
        ((3, 0), 1, True, np.full((3, 1), -np.inf)),
    ],
)
def test_logsumexp_of_nothing(run: Any, shape: Any, axis: Any, keepdim: bool, result: Any) -> None:
    empty = np.zeros(shape, "float32")
    compare(run(lambda x: paddle.logsumexp(x, axis, keepdim), empty), result, empty)


# -- cross entropy ----------------------------------------------------------------------------------------------------


def smoothed(logits: Any, labels: Any, ignored: int, weight: Any = None) -> tuple[Any, Any, Any]:
    """Losses by row, their gradients by the logits, and what each row counts; 0.2 of a label is spread over all 3."""
    logs = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    counts = (labels != ignored).astype("float64")
    targets = np.full(logits.shape, 0.2 / 3)
    targets[np.arange(4), labels] += 0.8
    if weight is not None:
        counts = counts * (targets @ weight)
    return -(targets * logs).sum(1) * counts, (np.exp(logs) - targets) * counts[:, None], counts


@BOTH
@pytest.mark.parametrize("weight", [None, np.array([0.5, 2.0, 1.0], "float32")])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("column", [False, True])
def test_label_smoothing_with_ignore_index(run: Any, weight: Any, reduction: str, column: bool) -> None:
    # Without weights as torch does it; Paddle divides by the labels that count, and ignores none.
    labels = np.array([0, 2, 1, 1])
    losses, slopes, counts = smoothed(WAVES.astype("float64"), labels, 1, weight)

    def loss(x: Any, y: Any) -> Any:
        w = None if weight is None else paddle.assign(weight)
        return F.cross_entropy(x, y, weight=w, label_smoothing=0.2, ignore_index=1, reduction=reduction)

    results = run(loss, WAVES, labels.reshape(-1, 1) if column else labels)
    if reduction == "none":
        compare(results, losses.reshape(4, 1), slopes)
    else:
        divisor = counts.sum() if reduction == "mean" else 1.0
        compare(results, losses.sum() / divisor, slopes / divisor)
    assert not results[1][2:].any()


@BOTH
def test_label_smoothing_where_every_label_is_ignored(run: Any) -> None:
    results = run(
        lambda x, y: F.cross_entropy(x, y, label_smoothing=0.2, ignore_index=1), WAVES, np.ones(4, dtype="int64")
    )
    compare(results, 0.0, np.zeros_like(WAVES))


# -- the middle -------------------------------------------------------------------------------------------------------


def test_gradients_of_a_median_with_ties() -> None:
    x = np.array([[3.0, 1.0, 2.0, 4.0], [2.0, 2.0, 5.0, 2.0], [1.0, 2.0, 2.0, 2.0]], "float32")
    third = 1 / 3
    rows = [[0.5, 0.0, 0.5, 0.0], [third, third, 0.0, third], [0.0, third, third, third]]
    compare(dynamically(lambda x: paddle.median(x, 1), x), [2.5, 2.0, 2.0], rows)
    odd = np.array([[3.0, 3.0, 1.0], [2.0, 2.0, 2.0]], "float32")
    compare(dynamically(lambda x: paddle.median(x, 1), odd), [3.0, 2.0], [[0.5, 0.5, 0.0], [third, third, third]])
    flawed = np.array([[3.0, np.nan, 1.0], [2.0, 1.0, 4.0]], "float32")
    compare(dynamically(lambda x: paddle.median(x, 1), flawed), [np.nan, 2.0], [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])


@BOTH
def test_the_smaller_median(run: Any) -> None:
    x = np.array([[3.0, 1.0, 2.0, 4.0], [6.0, 2.0, 5.0, 1.0]], "float32")
    compare(run(lambda x: paddle.median(x, 1, mode="min")[0], x), [2.0, 2.0], [[0, 0, 1, 0], [0, 1, 0, 0]])
    odd = np.array([[3.0, 1.0, 2.0], [2.0, 2.0, 5.0]], "float32")
    compare(run(lambda x: paddle.median(x, 1, mode="min")[0], odd), [2.0, 2.0], [[0, 0, 1], [0, 1, 0]])
    ties = np.array([[3.0, 1.0, 2.0, 4.0], [2.0, 2.0, 5.0, 2.0]], "float32")
    quarter = [[0, 0, 0.25, 0], [0.25, 0.25, 0, 0.25]]
    compare(run(lambda x: paddle.median(x, mode="min"), ties), 2.0, quarter)
    flawed = np.array([[3.0, np.nan, 2.0, 4.0]], "float32")
    compare(run(lambda x: paddle.median(x, 1, mode="min")[0], flawed), [np.nan], [[0, 1, 0, 0]])


def test_where_the_smaller_median_stands() -> None:
    paddle.disable_static()
    x = paddle.to_tensor([[3.0, 1.0, 2.0, 4.0], [2.0, 2.0, 5.0, 2.0]], stop_gradient=False)
    values, places = paddle.median(x, 0, True, mode="min")
    assert (values.tolist(), places.tolist()) == ([[2.0, 1.0, 2.0, 2.0]], [[1, 0, 0, 1]])
    assert (places.dtype, places.stop_gradient) == (paddle.int64, True)
    whole, places = paddle.median(paddle.to_tensor([[3, 1, 2], [2, 7, 5]]), 1, mode="min")
    assert (whole.dtype, whole.tolist(), places.tolist()) == (paddle.int64, [2, 5], [2, 2])
    assert paddle.median(paddle.to_tensor([[3, 1, 2], [2, 7, 5]])).item() == 2.5
    with pytest.raises(ValueError, match="at least one"):
        paddle.median(paddle.ones([0]))


# -- running sums -----------------------------------------------------------------------------------------------------


@BOTH
def test_cumsum_without_an_axis(run: Any) -> None:
    x = np.array([[1.0, 2.0], [3.0, 4.0]], "float32")
    compare(run(paddle.cumsum, x), [1.0, 3.0, 6.0, 10.0], [[4.0, 3.0], [2.0, 1.0]])


# -- borders ----------------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    ("mode", "paddings", "result", "slopes"),
    [
        ("constant", [-1, 2], [2.0, 3.0, 4.0, 9.0, 9.0], [0.0, 1.0, 1.0, 1.0]),
        ("constant", [-4, 1], [9.0], [0.0, 0.0, 0.0, 0.0]),
        ("reflect", [-1, 2], [2.0, 3.0, 4.0, 3.0, 2.0], [0.0, 2.0, 2.0, 1.0]),
        ("reflect", [-4, 1], [3.0], [0.0, 0.0, 1.0, 0.0]),
        ("replicate", [-1, 2], [2.0, 3.0, 4.0, 4.0, 4.0], [0.0, 1.0, 1.0, 3.0]),
        ("circular", [-1, 2], [2.0, 3.0, 4.0, 1.0, 2.0], [1.0, 2.0, 1.0, 1.0]),
        ("circular", [-1, -3], [], [0.0, 0.0, 0.0, 0.0]),
    ],
)
def test_borders_that_cut_off(run: Any, mode: str, paddings: list[int], result: Any, slopes: Any) -> None:
    x = np.arange(1.0, 5.0, dtype="float32").reshape(1, 1, 4)
    results = run(lambda x: F.pad(x, paddings, mode, 9.0 if mode == "constant" else 0.0, "NCL"), x)
    compare(results, np.reshape(result, (1, 1, -1)), [[slopes]])


# -- numbers, and other classes, in place of tensors ------------------------------------------------------------------


@BOTH
def test_remainders_and_quotients_by_a_number(run: Any) -> None:
    x = np.array([5.0, 7.5], "float32")
    compare(run(lambda v: paddle.mod(v, 2), x), [1.0, 1.5], [1.0, 1.0])
    whole = np.array([5, -7], "int64")
    paddle.disable_static()
    assert paddle.floor_divide(paddle.to_tensor(whole), 2).tolist() == [2, -4]
    assert paddle.remainder(paddle.to_tensor(whole), 2.5).tolist() == [1, 1]  # 2.5 becomes a whole number


@pytest.mark.usefixtures("dynamic")
def test_classes_that_calculate_with_a_tensor_on_their_left_are_asked() -> None:
    class Unit:
        def __rmul__(self, other: Any) -> str:
            return "mine"

    x = paddle.to_tensor([1.0])
    assert x * Unit() == "mine"  # type: ignore[operator]
    assert (x == Unit()) is False
    assert x not in [Unit()]
    with pytest.raises(TypeError, match="takes a Tensor or a number"):
        x + Unit()  # type: ignore[operator]
    with pytest.raises(TypeError, match="takes a Tensor or a number"):
        x * [1, 2]  # type: ignore[operator]


@BOTH
def test_borders_of_some_of_the_last_dimensions(run: Any) -> None:
    x = np.arange(6, dtype="float32").reshape(1, 2, 3)
    expected = np.pad(x, ((0, 0), (0, 2), (1, 0)))
    compare(run(lambda v: F.pad(v, [1, 0, 0, 2]), x), expected, np.ones_like(x))
    compare(run(lambda v: F.pad(v, [1, 2]), x[0]), np.pad(x[0], ((0, 0), (1, 2))), np.ones_like(x[0]))
    compare(run(paddle.nn.ZeroPad2D(1), x), np.pad(x, ((0, 0), (1, 1), (1, 1))), np.ones_like(x))


# -- tensors of their own, and in place -------------------------------------------------------------------------------


@pytest.mark.usefixtures("dynamic")
def test_as_tensor_and_asarray_copy_without_a_gradient() -> None:
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    for function in (paddle.as_tensor, paddle.asarray):
        y = function(x)
        assert y.stop_gradient
        y[0] = 7.0
        assert x.tolist() == [1.0, 2.0]
        assert not function(x, requires_grad=True).stop_gradient


@pytest.mark.usefixtures("dynamic")
def test_rows_of_a_table_are_shortened_in_place() -> None:
    w = paddle.to_tensor([[3.0, 4.0], [1.0, 0.0], [0.3, 0.4], [6.0, 8.0]], stop_gradient=False)
    y = F.embedding(paddle.to_tensor([0, 1, 0, 2]), w, max_norm=1.0)
    np.testing.assert_allclose(y.numpy(), [[0.6, 0.8], [1.0, 0.0], [0.6, 0.8], [0.3, 0.4]], rtol=1e-6)
    np.testing.assert_allclose(w.numpy(), [[0.6, 0.8], [1.0, 0.0], [0.3, 0.4], [6.0, 8.0]], rtol=1e-6)
    y.sum().backward()
    assert w.grad is not None
    assert w.grad.tolist() == [[2.0, 2.0], [1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]


@pytest.mark.usefixtures("dynamic")
def test_running_sums_in_place_keep_their_type() -> None:
    x = paddle.to_tensor([1, 2], dtype="int32")
    assert x.cumsum_().dtype == paddle.int32
    assert x.tolist() == [1, 3]
    assert paddle.cumsum(x).dtype == paddle.int64


# -- edges ------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("dynamic")
def test_single_rows_whole_numbers_and_nothing_at_all() -> None:
    row = paddle.to_tensor([[1.0, 2.0, 4.0]])
    assert paddle.linalg.cov(row, rowvar=False).tolist() == pytest.approx(7 / 3)
    assert paddle.linalg.corrcoef(row, rowvar=False).tolist() == pytest.approx(1.0)
    assert paddle.round(paddle.to_tensor([15, 24]), -1).tolist() == [15, 24]
    powers = paddle.to_tensor([2, 1, -1, 0, -1]) ** paddle.to_tensor([-1, -2, -3, -1, -2])
    assert powers.tolist() == [0, 1, -1, 0, 1]
    assert paddle.nanmean(paddle.to_tensor([1, 2, 4]), keepdim=True).tolist() == pytest.approx([7 / 3])
    assert paddle.zeros([0, 3]).stride() == [3, 1]
    assert paddle.linalg.pinv(paddle.zeros([2, 0, 3]), 0.1).shape == [2, 3, 0]
    _, edges = paddle.histogramdd(paddle.to_tensor([[1.0, 2.0]]), [2, 1])
    assert [e.tolist() for e in edges] == [[1.0, 1.0, 1.0], [2.0, 2.0]]
    with pytest.raises(ValueError, match="there is no norm 2"):
        paddle.linalg.matrix_norm(paddle.zeros([0, 3]), 2)


@pytest.mark.usefixtures("dynamic")
def test_the_largest_of_all_is_not_larger_than_itself() -> None:
    x = np.diag([3.0, 2.0, 1.0]) * (1 + 1j)
    assert int(paddle.linalg.matrix_rank(paddle.to_tensor(x), rtol=1.0)) == 0
    assert int(paddle.linalg.matrix_rank(paddle.to_tensor(x), atol=1.5, rtol=0.1)) == 2


@pytest.mark.usefixtures("dynamic")
def test_softsign_of_complex_numbers() -> None:
    x = paddle.to_tensor([3 + 4j, 0.5j], stop_gradient=False)
    np.testing.assert_allclose(F.softsign(x).numpy(), [0.5 + 2j / 3, 1j / 3], rtol=1e-6)


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: paddle.abs(x.astype("bool")), RuntimeError, "received bool"),
        (lambda x: x.copy_(0), TypeError, "received int"),
        (lambda x: x.is_same_shape("s"), TypeError, "received str"),
        (lambda x: paddle.einsum(x, x), TypeError, "must be str, but received Tensor"),
        (lambda x: paddle.slice_scatter(x, x, 0, [0], [1], [1]), TypeError, "The type of 'axes'"),
        (lambda x: paddle.nn.Linear(2, -3), AssertionError, "the 1-th dim is -3"),
        (lambda x: paddle.fft.fftn(x, axes=1), ValueError, "a sequence of integers"),
        (lambda x: F.cosine_similarity(x.sum(), x.sum()), IndexError, "axis 1 is out of range"),
        (lambda x: F.multi_margin_loss(x.sum(), x.sum().astype("int64")), IndexError, "must be"),
    ],
)
def test_errors_say_what_came(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(paddle.to_tensor([1.0, 2.0]))
