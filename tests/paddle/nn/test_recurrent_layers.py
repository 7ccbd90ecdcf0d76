"""Cells of recurrent networks: values against their formulas, names, states, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import ShapeError, UsageError

RNG = np.random.default_rng(11)
X, H, C = RNG.normal(size=(2, 4)), RNG.normal(size=(2, 3)), RNG.normal(size=(2, 3))


pytestmark = pytest.mark.usefixtures("wide", "fresh_names")


def fed(name: str, value: np.ndarray, *, unknown: bool = False) -> Any:
    return paddle.static.data(name, [None if unknown else value.shape[0], *value.shape[1:]], str(value.dtype))


def run(fetch: Any, feed: dict[str, np.ndarray]) -> list[np.ndarray]:
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    return exe.run(feed=feed, fetch_list=fetch)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def lstm(x: Any, h: Any, c: Any, wi: Any, wh: Any, bi: Any, bh: Any) -> tuple[np.ndarray, np.ndarray]:
    i, f, g, o = np.split(x @ wi.T + bi + h @ wh.T + bh, 4, axis=1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def gru(x: Any, h: Any, wi: Any, wh: Any, bi: Any, bh: Any) -> np.ndarray:
    (xr, xz, xn), (hr, hz, hn) = np.split(x @ wi.T + bi, 3, axis=1), np.split(h @ wh.T + bh, 3, axis=1)
    z, n = sigmoid(xz + hz), np.tanh(xn + sigmoid(xr + hr) * hn)
    return (1 - z) * n + z * h


def parameters(cell: Any) -> list[Any]:
    return [cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh]


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("with_states", [False, True])
def test_lstm_computes_its_formula(with_states: bool, unknown: bool) -> None:
    cell = paddle.nn.LSTMCell(4, 3)
    states = (fed("h", H), fed("c", C)) if with_states else None
    y, (h, c) = cell(fed("x", X, unknown=unknown), states)
    assert y is h
    assert list(h.shape) == list(c.shape) == [-1 if unknown and not with_states else 2, 3]
    feed = {"x": X, "h": H, "c": C} if with_states else {"x": X}
    *results, wi, wh, bi, bh = run([h, c, *parameters(cell)], feed)
    assert [w.shape for w in (wi, wh, bi, bh)] == [(12, 4), (12, 3), (12,), (12,)]
    start = (H, C) if with_states else (np.zeros((2, 3)), np.zeros((2, 3)))
    for a, b in zip(results, lstm(X, *start, wi, wh, bi, bh), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_gru_computes_its_formula() -> None:
    cell = paddle.nn.GRUCell(4, 3)
    y, h = cell(fed("x", X), fed("h", H))
    assert y is h
    result, *weights = run([h, *parameters(cell)], {"x": X, "h": H})
    np.testing.assert_allclose(result, gru(X, H, *weights), rtol=1e-12)


@pytest.mark.parametrize(("activation", "function"), [("tanh", np.tanh), ("relu", lambda a: np.maximum(a, 0))])
def test_simple_cell_computes_its_formula(activation: str, function: Any) -> None:
    cell = paddle.nn.SimpleRNNCell(4, 3, activation)
    y, h = cell(fed("x", X), fed("h", H))
    assert y is h
    result, wi, wh, bi, bh = run([h, *parameters(cell)], {"x": X, "h": H})
    np.testing.assert_allclose(result, function(X @ wi.T + bi + H @ wh.T + bh), rtol=1e-12)


def test_projection_of_the_output() -> None:
    cell = paddle.nn.LSTMCell(4, 3, proj_size=2)
    assert cell.state_shape == ((2,), (3,))
    y, (_, c) = cell(fed("x", X))
    assert list(cell.weight_hh.shape) == [12, 2]
    result, cell_state, wi, bi, bh, wo = run(
        [y, c, cell.weight_ih, cell.bias_ih, cell.bias_hh, cell.weight_ho], {"x": X}
    )
    zeros = np.zeros((2, 3))
    hidden, after = lstm(X, zeros, zeros, wi, np.zeros((12, 3)), bi, bh)
    np.testing.assert_allclose(cell_state, after, rtol=1e-12)
    np.testing.assert_allclose(result, hidden @ wo, rtol=1e-12)


def test_names_of_parameters_and_results() -> None:
    cell = paddle.nn.SimpleRNNCell(4, 3)
    y, _ = cell(fed("x", X))
    assert [p.name for p in parameters(cell)] == [f"simple_rnn_cell_0.{n}" for n in ("w_0", "w_1", "b_0", "b_1")]
    assert [n for n, _ in cell.named_parameters()] == ["weight_ih", "weight_hh", "bias_ih", "bias_hh"]
    ops = paddle.static.default_main_program().global_block().ops
    assert [o.type for o in ops] == [
        "fill_constant", "matmul_v2", "elementwise_add", "matmul_v2", "elementwise_add", "elementwise_add", "tanh"
    ]  # fmt: skip
    assert y.name == "tanh_0.tmp_0"
    started = paddle.static.default_startup_program().global_block().ops
    limit = pytest.approx(3**-0.5, rel=1e-6)
    assert [(o.type, o.attr("max")) for o in started] == [("uniform_random", limit)] * 4


def test_a_batch_that_is_not_known_is_read_from_the_input() -> None:
    y, _ = paddle.nn.LSTMCell(4, 3)(paddle.static.data("x", [None, 4], "float64"))
    ops = paddle.static.default_main_program().global_block().ops
    assert [o.type for o in ops[:4]] == ["shape", "slice", "shape", "slice"]
    constants = [o.output("Out")[0] for o in ops if o.type == "fill_constant"]
    assert constants == [f"fill_constant_{i}.tmp_0" for i in (3, 1, 7, 5)]
    assert [run([y], {"x": np.ones((n, 4))})[0].shape for n in (1, 5)] == [(1, 3), (5, 3)]


def test_attributes_that_are_false_make_constants() -> None:
    cell = paddle.nn.GRUCell(4, 3, weight_hh_attr=False, bias_ih_attr=False)
    y, _ = cell(fed("x", X))
    assert [p.stop_gradient for p in parameters(cell)] == [False, True, True, False]
    pairs = paddle.static.append_backward(paddle.mean(y))
    assert [p.name for p, _ in pairs] == [cell.weight_ih.name, cell.bias_hh.name]
    _, wh, bi, _ = run(parameters(cell), {"x": X})
    assert (wh == 1).all()
    assert (bi == 0).all()


def test_initial_states() -> None:
    cell = paddle.nn.LSTMCell(4, 3)
    x = fed("x", X)
    h, c = cell.get_initial_states(x, init_value=0.5)
    one = cell.get_initial_states(x, shape=[7], dtype="float32", batch_dim_idx=1)
    assert (list(one.shape), one.dtype.name) == ([4, 7], "float32")
    assert [a.tolist() for a in run([h, c], {"x": X})] == [np.full((2, 3), 0.5).tolist()] * 2


def test_initial_states_have_the_default_type_and_not_the_cells() -> None:
    cell = paddle.nn.GRUCell(4, 3)
    paddle.set_default_dtype("float64")
    assert cell.get_initial_states(fed("x", X)).dtype.name == "float64"


def test_steps_of_a_sequence_have_the_gradient_of_differences() -> None:
    xs = RNG.normal(size=(2, 3, 4))
    cell = paddle.nn.LSTMCell(4, 3)
    data = fed("xs", xs)
    data.stop_gradient = False
    states = None
    for i in range(3):
        y, states = cell(data[:, i], states)
    (gradient,) = paddle.static.gradients([paddle.sum(y)], [data])
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    (grad,) = exe.run(feed={"xs": xs}, fetch_list=[gradient])
    along = RNG.normal(size=xs.shape)
    up, down = (float(exe.run(feed={"xs": xs + s * along}, fetch_list=[y])[0].sum()) for s in (1e-6, -1e-6))
    assert float((grad * along).sum()) == pytest.approx((up - down) / 2e-6, rel=1e-7)


def test_text_form() -> None:
    nn = paddle.nn
    cells = [nn.LSTMCell(4, 3), nn.LSTMCell(4, 3, proj_size=2), nn.SimpleRNNCell(4, 3, "relu"), nn.GRUCell(4, 3)]
    assert [repr(c) for c in cells] == [
        "LSTMCell(4, 3)",
        "LSTMCell(4, 3, proj_size=2)",
        "SimpleRNNCell(4, 3, activation=relu)",
        "GRUCell(4, 3)",
    ]


def test_errors() -> None:
    nn = paddle.nn
    for make in (nn.LSTMCell, nn.GRUCell, nn.SimpleRNNCell):
        with pytest.raises(UsageError, match=f"hidden_size of {make.__name__} must be greater than 0"):
            make(4, 0)
    with pytest.raises(UsageError, match="should be tanh or relu, but get gelu"):
        nn.SimpleRNNCell(4, 3, activation="gelu")
    with pytest.raises(UsageError, match="proj_size must be smaller than hidden_size"):
        nn.LSTMCell(4, 3, proj_size=3)
    with pytest.raises(UsageError, match="proj_size of LSTMCell must not be negative"):
        nn.LSTMCell(4, 3, proj_size=-1)
    with pytest.raises(ShapeError, match=r"inputs 'x' must have the shape \[batch, 5\], but it is \[2, 4\]"):
        nn.LSTMCell(5, 3)(fed("x", X))
