"""Recurrent networks: programs, names, values and gradients are those that Paddle 3.1.1 was seen to give."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import OperatorError, ShapeError, UsageError

RECORDED = json.loads(Path(__file__).with_name("recurrent_networks.json").read_text(encoding="utf-8"))
PROGRAMS, VALUES = RECORDED["programs"], RECORDED["values"]
ATTRIBUTES = ["dropout_prob", "hidden_size", "input_size", "is_bidirec", "is_test", "mode", "num_layers", "seed"]
RNG = np.random.default_rng(7)


pytestmark = pytest.mark.usefixtures("fresh_names")


def data(name: str, shape: list[int], dtype: str = "float32") -> Any:
    variable = paddle.static.data(name, shape, dtype)
    variable.stop_gradient = False
    return variable


def made_by(expression: str) -> Any:
    return eval(expression, {"nn": paddle.nn, "data": data})


def flat(results: Any) -> list[Any]:
    return [e for r in results for e in flat(r)] if isinstance(results, (list, tuple)) else [results]


def operators(program: Any, *but: str) -> str:
    return " ".join(o.type for o in program.global_block().ops if o.type not in but)


@pytest.mark.parametrize("expression", PROGRAMS)
def test_the_program_is_that_of_paddle(expression: str) -> None:
    """But for the parameter that Paddle lays all weights out in for cuDNN, and what fills it at startup."""
    record = PROGRAMS[expression]
    results = flat(made_by(expression))
    paddle.static.append_backward(paddle.mean(results[0]))
    main, startup = paddle.static.default_main_program(), paddle.static.default_startup_program()
    assert operators(main) == record["operators"]
    assert operators(startup) == record["startup"].removesuffix(" fill_constant coalesce_tensor")
    assert [v.name for v in results] == record["results"]
    assert [list(v.shape) for v in results] == record["shapes"]
    assert [[p.name, list(p.shape)] for p in main.all_parameters()] == [
        p for p in record["parameters"] if "_cell_" in p[0]
    ]
    ops = main.global_block().ops
    written = {n for o in ops for slot in o.output_names for n in o.output(slot)}
    assert sorted(written) == sorted(record["variables"].split())
    networks = [o for o in ops if o.type in ("rnn", "rnn_grad")]
    assert [
        {
            "inputs": {n: o.input(n) for n in sorted(o.input_names)},
            "outputs": {n: o.output(n) for n in sorted(o.output_names)},
            "attrs": {a: pytest.approx(o.attr(a)) if a == "dropout_prob" else o.attr(a) for a in ATTRIBUTES},
        }
        for o in networks
    ] == record["rnn"]


def filled(expression: str, record: Any) -> Any:
    model = made_by(expression)
    parameters = {p.name: p for p in model.parameters()}
    assert sorted(parameters) == sorted(record["parameters"])
    for name, value in record["parameters"].items():
        parameters[name].set_value(np.array(value))
    return model


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("expression", VALUES)
def test_values_and_gradients_in_dynamic_mode(expression: str) -> None:
    paddle.disable_static()
    record = VALUES[expression]
    model = filled(expression, record)
    assert repr(model).replace(", proj_size=2", "") == record["text"]  # Paddle does not say it
    x = paddle.to_tensor(record["x"], stop_gradient=False)
    lengths = None if record["lengths"] is None else paddle.to_tensor(record["lengths"])
    results = flat(model(x, None, lengths))
    pairs = zip(results, record["weights"], strict=True)
    sum((r * paddle.to_tensor(w)).sum() for r, w in pairs).backward()
    for result, expected in zip(results, record["results"], strict=True):
        np.testing.assert_allclose(result.numpy(), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(x.grad.numpy(), record["x@GRAD"], rtol=1e-9, atol=1e-12)
    for p in model.parameters():
        np.testing.assert_allclose(p.grad.numpy(), record["gradients"][p.name], rtol=1e-9, atol=1e-12)


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("expression", VALUES)
def test_values_and_gradients_in_programs(expression: str, unknown: bool) -> None:
    """With the numbers of steps and sequences known, and with both unknown (steps are a loop then)."""
    record = VALUES[expression]
    model = made_by(expression)
    value = np.array(record["x"])
    x = data("x", [-1, -1, 3] if unknown else list(value.shape), "float64")
    feed = {"x": value}
    lengths = None
    if record["lengths"] is not None:
        feed["n"] = np.array(record["lengths"])
        lengths = data("n", [-1 if unknown else 2], "int64")
    results = flat(model(x, None, lengths))
    total = sum(paddle.sum(r * paddle.assign(np.array(w))) for r, w in zip(results, record["weights"], strict=True))
    gradients = {p.name: g for p, g in paddle.static.append_backward(total)}
    names = sorted(gradients)
    assert names == sorted(record["parameters"])
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    for name, start in record["parameters"].items():
        paddle.static.global_scope().find_var(name).get_tensor().set(np.array(start))
    arrays = exe.run(feed=feed, fetch_list=[*results, "x@GRAD", *(gradients[n] for n in names)])
    expected = [*record["results"], record["x@GRAD"], *(record["gradients"][n] for n in names)]
    for a, b in zip(arrays, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("expression", [e for e in VALUES if "proj_size" not in e])
def test_names_under_which_states_are_saved(expression: str) -> None:
    assert list(made_by(expression).state_dict()) == VALUES[expression]["state"]


def test_parameters_of_a_projecting_network_have_their_own_names() -> None:
    """Paddle counts the projections among the others, so that ``weight_ih_l1`` is one of them there."""
    model = paddle.nn.LSTM(3, 4, 2, proj_size=2)
    assert model.weight_ih_l1 is model[1].cell.weight_ih
    assert [n for n, _ in model.named_parameters()][-2:] == ["0.cell.weight_ho", "1.cell.weight_ho"]


def test_attributes_that_are_false_make_constants() -> None:
    """Every weight keeps its place; Paddle loses some of them here."""
    paddle.disable_static()
    model = paddle.nn.GRU(3, 2, 2, bias_ih_attr=False, weight_hh_attr=False)
    assert model.bias_hh_l1 is model[1].cell.bias_hh
    assert not hasattr(model, "bias_ih_l0")
    y, _ = model(paddle.ones([2, 3, 3]))
    y.sum().backward()
    without = [n for n, p in model.named_parameters() if p.grad is None]
    assert without == ["weight_hh_l0", "weight_hh_l1", "0.cell.bias_ih", "1.cell.bias_ih"]
    assert not model[0].cell.bias_ih.numpy().any()


def test_dropout_between_layers_is_for_training_only() -> None:
    paddle.disable_static()
    paddle.seed(3)
    model = paddle.nn.GRU(3, 8, 2, dropout=0.5)
    x = paddle.to_tensor(RNG.normal(size=(2, 4, 3)).astype("float32"))
    first, second = (model(x)[0].numpy() for _ in range(2))
    assert (first != second).any()
    model.eval()
    first, second = (model(x)[0].numpy() for _ in range(2))
    assert (first == second).all()
    below = paddle.nn.GRU(3, 8, 1, dropout=0.5)
    assert (below(x)[0].numpy() == below(x)[0].numpy()).all()


@pytest.mark.usefixtures("wide")
def test_two_calls_of_one_layer_keep_what_each_of_them_dropped() -> None:
    """So the gradient of a sum of both is the sum of their gradients, and these differ."""
    model = paddle.nn.SimpleRNN(3, 4, 2, dropout=0.5, activation="relu")
    x = data("x", [2, 3, 3], "float64")
    a, _ = model(x)
    b, _ = model(x)
    rnns = [o for o in paddle.static.default_main_program().global_block().ops if o.type == "rnn"]
    assert len({o.output("DropoutState")[0] for o in rnns}) == 2
    g_a, g_b = (paddle.static.gradients([paddle.sum(y)], [x])[0] for y in (a, b))
    (both,) = paddle.static.gradients([paddle.sum(a) + paddle.sum(b)], [x])
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    one, two, sums = exe.run(feed={"x": RNG.normal(size=(2, 3, 3))}, fetch_list=[g_a, g_b, both])
    assert (one != two).any()
    np.testing.assert_allclose(sums, one + two, rtol=1e-12)


def test_calls_in_branches_keep_what_they_dropped_apart() -> None:
    model = paddle.nn.GRU(3, 2, 2, dropout=0.5)
    x, go = data("x", [2, 3, 3]), paddle.static.data("go", [1], "bool")
    paddle.static.nn.cond(go, lambda: model(x)[0], lambda: 2 * model(x)[0])
    model(x)
    rnns = [o for b in paddle.static.default_main_program().blocks for o in b.ops if o.type == "rnn"]
    assert len({o.output("DropoutState")[0] for o in rnns}) == len(rnns) == 3


def test_states_are_saved_and_copied() -> None:
    paddle.disable_static()
    a, b = paddle.nn.GRU(3, 2, 2), paddle.nn.GRU(3, 2, 2)
    x = paddle.to_tensor(RNG.normal(size=(2, 4, 3)).astype("float32"))
    expected = a(x)[0].numpy()
    b.set_state_dict({n: v.numpy() for n, v in a.state_dict().items()})
    twin = copy.deepcopy(a)
    assert twin.weight_ih_l1 is twin[1].cell.weight_ih
    assert twin.weight_ih_l1 is not a.weight_ih_l1
    for other in (b, twin):
        assert (other(x)[0].numpy() == expected).all()


@pytest.mark.usefixtures("wide")
def test_second_order_of_a_program_with_unknown_sizes() -> None:
    model = paddle.nn.GRU(3, 2, 2, direction="bidirect")
    x = data("x", [-1, -1, 3], "float64")
    y, h = model(x)
    (g,) = paddle.static.gradients([paddle.sum(y * y) + paddle.sum(h)], [x])
    (second,) = paddle.static.gradients([paddle.sum(g * g)], [x])
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    for size in ((2, 4, 3), (1, 1, 3)):
        value, along = RNG.normal(size=(2, *size))
        first, gradient = exe.run(feed={"x": value}, fetch_list=[g, second])
        up, down = (exe.run(feed={"x": value + s * along}, fetch_list=[g])[0] for s in (1e-6, -1e-6))
        assert float((gradient * along).sum()) == pytest.approx(
            float(((up**2).sum() - (down**2).sum()) / 2e-6), rel=1e-6
        )
        assert first.shape == size


@pytest.mark.usefixtures("wide")
def test_second_order_in_dynamic_mode() -> None:
    paddle.disable_static()
    model = paddle.nn.LSTM(3, 2, direction="bidirect")
    value, along = RNG.normal(size=(2, 2, 4, 3))

    def first(at: Any) -> Any:
        x = paddle.to_tensor(at, stop_gradient=False)
        y, (h, c) = model(x)
        (g,) = paddle.grad([(y * y).sum() + (h * c).sum()], [x], create_graph=True)
        return x, g

    x, g = first(value)
    (second,) = paddle.grad([(g * paddle.to_tensor(along)).sum()], [x])
    step = 1e-6
    up, down = (first(value + s * along)[1].numpy() for s in (step, -step))
    np.testing.assert_allclose(second.numpy(), (up - down) / (2 * step), rtol=1e-6, atol=1e-8)


def test_a_network_equals_its_cells_one_after_the_other() -> None:
    paddle.disable_static()
    x = paddle.to_tensor(RNG.normal(size=(2, 4, 3)).astype("float32"))
    model = paddle.nn.LSTM(3, 5)
    y, (h, c) = model(x)
    z, (k, d) = model[0](x)
    for a, b in ((y, z), (h[0], k), (c[0], d)):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6)


class Counter(paddle.nn.Layer):
    """A cell with a nested state, and outputs that are a dict."""

    def forward(self, inputs: Any, states: Any, by: float = 1.0) -> Any:
        total, steps = states
        total = total + inputs * by
        return {"total": total, "steps": steps}, (total, steps + 1)


@pytest.mark.parametrize("backwards", [False, True])
def test_cells_of_ones_own(backwards: bool) -> None:
    paddle.disable_static()
    x = paddle.to_tensor([[[1.0], [2.0], [4.0]], [[8.0], [16.0], [32.0]]])
    start = paddle.zeros([2, 1]), paddle.zeros([2, 1])
    outputs, (total, steps) = paddle.nn.RNN(Counter(), backwards)(x, start, paddle.to_tensor([2, 3]), by=10.0)
    assert total.numpy().ravel().tolist() == [30.0, 560.0]
    assert steps.numpy().ravel().tolist() == [2.0, 3.0]
    assert outputs["steps"].numpy()[1].ravel().tolist() == ([2.0, 1.0, 0.0] if backwards else [0.0, 1.0, 2.0])


def test_errors() -> None:
    nn = paddle.nn
    x = data("x", [2, 5, 3])
    with pytest.raises(UsageError, match=r"direction should be forward or bidirect .* received direction = up"):
        nn.LSTM(3, 2, direction="up")
    with pytest.raises(UsageError, match="Unknown activation 'gelu'"):
        nn.SimpleRNN(3, 2, activation="gelu")
    with pytest.raises(UsageError, match="num_layers of GRU must be at least 1, but is 0"):
        nn.GRU(3, 2, 0)
    with pytest.raises(UsageError, match="dropout of GRU must lie between 0 and 1, but is 2"):
        nn.GRU(3, 2, dropout=2)
    with pytest.raises(UsageError, match=r"input size of forward cell\(3\) does not equals that of backward cell\(4\)"):
        nn.BiRNN(nn.GRUCell(3, 2), nn.GRUCell(4, 2))
    with pytest.raises(AssertionError, match="should be a pair"):
        nn.BiRNN(nn.GRUCell(3, 2), nn.GRUCell(3, 2))(x, x)
    with pytest.raises(ShapeError, match=r"inputs 'x' must have the shape \[batch, steps, 4\], but it is \[2, 5, 3\]"):
        nn.LSTM(4, 2)(x)
    with pytest.raises(UsageError, match=r"initial_states must be a pair \(h, c\), but there are 1"):
        nn.LSTM(3, 2)(x, data("h", [1, 2, 2]))
    with pytest.raises(ShapeError, match=r"PreState\[0\] must have the shape \[1, 2, 2\] .* but it is \[2, 2, 2\]"):
        nn.GRU(3, 2)(x, data("k", [2, 2, 2]))
    with pytest.raises(ShapeError, match=r"SequenceLength must have the shape \[2\]"):
        nn.GRU(3, 2)(x, None, data("n", [3], "int64"))
    for model in (nn.GRU(3, 2), nn.RNN(nn.GRUCell(3, 2))):
        with pytest.raises(ShapeError, match="no steps"):
            model(data("empty", [2, 0, 3]))


def test_errors_of_the_operator() -> None:
    paddle.disable_static()
    x, h = paddle.ones([2, 3, 4]), paddle.zeros([1, 3, 2])
    from gradtool.paddle._dispatch import apply

    with pytest.raises(OperatorError, match="mode must be one of LSTM, GRU, RNN_TANH, RNN_RELU, not 'QRNN'"):
        apply("rnn", x, [h], [], attrs={"mode": "QRNN"})
    with pytest.raises(OperatorError, match="takes 1 states and 4 weights, but received 1 and 0"):
        apply("rnn", x, [h], [], attrs={"mode": "GRU"})
