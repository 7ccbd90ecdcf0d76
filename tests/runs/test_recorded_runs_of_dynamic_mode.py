"""A recorded run of dynamic mode is the run itself: nothing changes by recording it, nothing recorded changes later.

Each case is a function of some leaves that ends in a backward pass. What is asked of every one of them: results,
gradients and random streams are those of a run that nobody recorded; the timeline's gradients are the ``.grad``, to the
bit; what was let go of comes out the same when it is computed again, or says that it cannot; another value of a leaf
gives what a run with that leaf gives, or says that it cannot.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core import state
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.runs import of_tape
from gradtool.engine.runs.branch import Branch, FixedError
from gradtool.engine.runs.recorder import Recorder
from gradtool.engine.runs.timeline import NOBODY, Timeline

F = paddle.nn.functional
END = 10**9
Leaves = dict[str, Tensor]
Case = Callable[[Leaves], Any]

CASES: dict[str, tuple[Case, str]] = {}


pytestmark = pytest.mark.usefixtures("dynamic")


def case(fixed: str = "") -> Callable[[Case], Case]:
    """A case; *fixed* names what an edit cannot follow, by a part of the message."""

    def add(function: Case) -> Case:
        CASES[function.__name__] = function, fixed
        return function

    return add


def start(dtype: str = "float32") -> dict[str, Any]:
    draw = np.random.default_rng(5)
    return {
        "w": draw.uniform(0.2, 1, (3, 4)).astype(dtype),
        "v": draw.uniform(0.2, 1, (4, 2)).astype(dtype),
        "b": draw.uniform(0.2, 1, (2,)).astype(dtype),
        "s": np.asarray(draw.uniform(0.2, 1), dtype),
    }


def leaves(arrays: dict[str, Any]) -> Leaves:
    return {n: paddle.to_tensor(a.copy(), stop_gradient=False) for n, a in arrays.items()}


def data(*shape: int) -> Tensor:
    return paddle.to_tensor(np.random.default_rng(9).uniform(-1, 1, shape).astype("float32"))


# -- cases ------------------------------------------------------------------------------------------------------------


@case()
def layers(x: Leaves) -> Any:
    h = F.relu(paddle.matmul(data(5, 3), x["w"]) - 0.3)
    loss = (paddle.matmul(h, x["v"]) + x["b"]).tanh().mean() * x["s"]
    loss.backward()
    return loss


@case()
def used_often(x: Leaves) -> Any:
    h = data(3, 4)
    for _ in range(6):
        h = paddle.tanh(h * x["w"] + x["w"])
    h.sum().backward()
    return h


@case()
def views_and_detached(x: Leaves) -> Any:
    h = x["w"] * 2.0
    row, turned = h[1], paddle.transpose(h, [1, 0])
    aside = row.detach() * 3.0
    loss = (paddle.reshape(turned, [-1]) ** 2).sum() + (row * aside).sum()
    loss.backward()
    return loss


@case()
def results_without_axes(x: Leaves) -> Any:
    total = x["w"].sum() * x["s"]
    loss = paddle.exp(total * 0.1) + paddle.max(x["v"]) * total + paddle.mean(x["b"])
    loss.backward()
    return loss


@case()
def in_place(x: Leaves) -> Any:
    h = x["w"] * 1.5
    h.add_(x["w"])
    h.tanh_()
    g = h * 2.0
    g[1] = h[0] * x["s"]
    g.scale_(0.5)
    loss = (g * g).sum()
    loss.backward()
    return loss


@case()
def data_in_place(x: Leaves) -> Any:
    buffer = paddle.zeros([3, 4])
    for i in range(3):
        buffer[i] = x["w"][i] * (i + 1.0)
    loss = (buffer * data(3, 4)).sum()
    loss.backward()
    return loss


@case(fixed="overwritten")
def overwritten_through_a_view(x: Leaves) -> Any:
    h = (x["w"] * 2.0).detach()
    view = h[0]
    with paddle.no_grad():
        view.add_(x["w"].detach()[1])
    loss = (h * x["w"]).sum()
    loss.backward()
    return loss


@case()
def hooks(x: Leaves) -> Any:
    x["w"].register_hook(lambda g: g * 2.0)
    h = x["w"] * x["w"]
    h.register_hook(lambda g: g + 1.0)
    h.register_hook(lambda g: None)
    h.retain_grads()
    loss = (h * 3.0).sum()
    loss.backward()
    return loss


class Cube(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> Tensor:
        (x,) = ctx.saved_tensor()
        return dy * 3.0 * x * x


class Rough(paddle.autograd.PyLayer):
    """Through NumPy, and writes into the gradient that it gets."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return paddle.to_tensor(np.sin(x.numpy()))

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> Tensor:
        (x,) = ctx.saved_tensor()
        dy.scale_(2.0)
        return dy * paddle.cos(x)


@case()
def py_layers(x: Leaves) -> Any:
    loss = Cube.apply(x["w"] * 1.5).sum()
    loss.backward()
    return loss


@case(fixed="NumPy")
def py_layers_through_numpy(x: Leaves) -> Any:
    loss = (Rough.apply(x["w"] * 1.5) * x["w"]).sum()
    loss.backward()
    return loss


@case()
def recomputed(x: Leaves) -> Any:
    def part(h: Tensor) -> Tensor:
        return paddle.tanh(h * x["w"]) * h

    h = paddle.distributed.fleet.utils.recompute(part, x["w"] * 0.5)
    h.sum().backward()
    return h


@case()
def gradient_penalty(x: Leaves) -> Any:
    y = paddle.tanh(paddle.matmul(x["w"], x["v"])).sum()
    (g,) = paddle.grad(y, [x["w"]], create_graph=True)
    loss = y + (g * g).sum()
    loss.backward()
    return loss


@case()
def two_passes_over_one_graph(x: Leaves) -> Any:
    h = paddle.tanh(x["w"] * 2.0)
    h.sum().backward(retain_graph=True)
    for t in x.values():
        t.clear_grad()
    loss = (h * h).sum()
    loss.backward()
    return loss


@case()
def a_graph_from_before_another_pass(x: Leaves) -> Any:
    h = paddle.tanh(x["w"] * 2.0) + 1.0
    (x["v"] * 2.0).sum().backward()
    for t in x.values():
        t.clear_grad()
    loss = ((h + 0.5) * h).sum()
    loss.backward()
    return loss


@case()
def a_value_from_before_another_pass(x: Leaves) -> Any:
    first = (x["v"] * 2.0).sum()
    first.backward()
    for t in x.values():
        t.clear_grad()
    loss = (x["w"] * first.detach()).sum()
    loss.backward()
    return loss


@case()
def rows(x: Leaves) -> Any:
    h = F.embedding(paddle.to_tensor(np.array([2, 0, 2])), x["w"], sparse=True)
    loss = (h * h).sum()
    loss.backward()
    return loss


@case()
def half_precision(x: Leaves) -> Any:
    h = x["w"].astype("bfloat16") * 1.5
    g = paddle.matmul(x["w"].astype("float16"), x["v"].astype("float16"))
    loss = (h.astype("float32") ** 2).sum() + g.astype("float32").tanh().sum()
    loss.backward()
    return loss


@case()
def complex_numbers(x: Leaves) -> Any:
    z = paddle.complex(x["w"], x["w"] * 0.5)
    loss = paddle.real(z * paddle.conj(z) * z).sum()
    loss.backward()
    return loss


@case()
def dropout(x: Leaves) -> Any:
    h = F.dropout(x["w"] * 2.0, 0.5)
    loss = (h * paddle.rand([3, 4])).sum()
    loss.backward()
    return loss


@case()
def recurrent(x: Leaves) -> Any:
    layer = paddle.nn.LSTM(4, 3)
    out, _ = layer(paddle.reshape(x["w"], [1, 3, 4]))
    loss = (out * out).sum()
    loss.backward()
    return loss


@case()
def normalized(x: Leaves) -> Any:
    layer = paddle.nn.BatchNorm1D(4)
    loss = (layer(x["w"]) ** 2 * layer(x["w"] * 2.0)).sum() + layer._mean.sum()
    loss.backward()
    return loss


@case(fixed="packed")
def saved_elsewhere(x: Leaves) -> Any:
    with paddle.autograd.saved_tensors_hooks(lambda t: t.numpy(), paddle.to_tensor):
        loss = (paddle.tanh(x["w"]) * x["w"]).sum()
    loss.backward()
    return loss


@case()
def several_losses(x: Leaves) -> Any:
    h = x["w"] * x["s"]
    paddle.autograd.backward([h.sum(), (h * h).sum(), h], [None, None, paddle.ones([3, 4])])
    return h


@case()
def lists(x: Leaves) -> Any:
    parts = paddle.split(x["w"], 2, axis=1)
    loss = paddle.concat([parts[1] * 2.0, parts[0] * parts[0]], axis=0).sum() + paddle.stack([x["b"], x["b"]]).sum()
    loss.backward()
    return loss


@case(fixed="outside")
def values_from_outside(x: Leaves) -> Any:
    h = x["w"] * 2.0
    h.set_value(h.numpy() * 2)
    with paddle.no_grad():
        x["b"].scale_(0.5)
    loss = (h * x["w"]).sum() + x["b"].sum()
    loss.backward()
    return loss


# -- what is asked of each --------------------------------------------------------------------------------------------


def run(name: str, arrays: dict[str, Any]) -> tuple[Leaves, Any, dict[str, Any]]:
    paddle.seed(3)
    x = leaves(arrays)
    result = CASES[name][0](x)
    grads = {n: None if t.grad is None else np.array(t.grad.numpy()) for n, t in x.items()}
    return x, np.array(result.numpy()), grads


def recorded(name: str, budget: int | None = None) -> tuple[Timeline, Leaves, Any, dict[str, Any], Recorder]:
    recorder = Recorder(budget)
    with recorder.record():
        x, result, grads = run(name, start())
    line = of_tape.timeline(recorder, named={}, shown={t.leaf: n for n, t in x.items()})
    return line, x, result, grads, recorder


def finals(line: Timeline, branch: Branch) -> dict[str, Any]:
    return {n: None if v is None else np.asarray(branch.value(v, END)) for n, v in line.results.items()}


def same(came: dict[str, Any], expected: dict[str, Any]) -> None:
    for name, value in expected.items():
        if value is None or came[name] is None:  # a .grad that was cleared holds zeros
            assert came[name] is None, name
            assert value is None or not np.any(value), name
        else:
            assert came[name].dtype == value.dtype
            np.testing.assert_array_equal(came[name], value, name)


@pytest.mark.parametrize("name", CASES)
def test_recording_changes_nothing(name: str) -> None:
    _, result, grads = run(name, start())
    stream = state.random.position
    line, _, again, recorded_grads, _ = recorded(name)
    np.testing.assert_array_equal(again, result)
    same(recorded_grads, grads)
    assert state.random.position == stream
    same(finals(line, Branch(line)), grads)


@pytest.mark.parametrize("name", CASES)
def test_nothing_recorded_changes_later(name: str) -> None:
    line, x, _, grads, _ = recorded(name)
    before = {n: np.array(np.asarray(a)) for n, a in line.store.items()}
    descent = paddle.optimizer.SGD(learning_rate=0.5, parameters=[t for t in x.values() if t.grad is not None])
    descent.step()
    for t in x.values():
        with paddle.no_grad():
            t.add_(paddle.ones_like(t))
            if t.grad is not None and not t.grad.is_selected_rows():
                t.grad.add_(paddle.ones_like(t.grad))
        t.clear_grad()
    (x["w"].sum() * 3.0).backward()
    for n, a in line.store.items():
        np.testing.assert_array_equal(np.asarray(a), before[n], line.values[n].name)
    same(finals(line, Branch(line)), grads)


@pytest.mark.parametrize("name", CASES)
def test_what_was_let_go_of_comes_out_the_same(name: str) -> None:
    line, *_ = recorded(name)
    small, *_ = recorded(name, budget=0)
    assert [e.name for e in small.entries] == [e.name for e in line.entries]
    pairs = [
        (n, m)
        for a, b in zip(line.entries, small.entries, strict=True)
        for n, m in zip([*a.inputs, *a.made], [*b.inputs, *b.made], strict=True)
    ]
    full, branch, failed = Branch(line), Branch(small), 0
    for n, m in pairs:
        wanted = full.make(n)
        try:
            again = branch.make(m)
        except FixedError:
            failed += 1
            continue
        if hasattr(wanted, "dtype"):
            np.testing.assert_array_equal(np.asarray(again), np.asarray(wanted), line.values[n].name)
    assert not failed or CASES[name][1], [small.values[m].name for _, m in pairs]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("leaf", ["w", "s"])
def test_another_value_of_a_leaf(name: str, leaf: str) -> None:
    line, _, _, _, _ = recorded(name)
    number = next((n for n in line.versions(leaf) if line.values[n].maker == NOBODY), None)
    if number is None:
        assert line.results[leaf] is None
        return
    arrays = start()
    arrays[leaf] = np.asarray(arrays[leaf] * 0.7 + 0.1, arrays[leaf].dtype)
    _, _, grads = run(name, arrays)
    branch = Branch(line, cursor=0)
    branch.edit(number, arrays[leaf], "")
    fixed = CASES[name][1]
    for n, v in line.results.items():
        try:
            gradient = None if v is None else np.asarray(branch.value(v, END))
        except FixedError as error:
            if not fixed or fixed not in str(error):
                raise
            continue
        same({n: gradient}, {n: grads[n]})


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "SimpleRNN"])
@pytest.mark.parametrize("change", [lambda results: results[:-1], lambda results: [*results, None]])
def test_an_operator_that_gives_another_number_of_results_cannot_be_repeated(
    kind: str, change: Callable[[list[Any]], list[Any]]
) -> None:
    """Lists of what was recorded and of what came again are only taken together where they are of one length."""
    paddle.disable_static()
    network, x = getattr(paddle.nn, kind)(3, 4, num_layers=2, direction="bidirect"), paddle.rand([2, 3, 3])
    x.stop_gradient = False
    recorder = Recorder()
    with recorder.record():
        network(x)[0].mean().backward()
    line = of_tape.timeline(recorder, named={}, shown={x.leaf: "x"})
    entry = next(e for e in line.entries if e.type == "rnn")
    kernel = entry.kernel
    assert kernel is not None
    entry.kernel = lambda *operands: change(list(kernel(*operands)))
    first = next(n for _, n in entry.outs if n >= 0)
    branch = Branch(line, cursor=0)
    branch.edit(next(n for n in line.versions("x")), np.ones([2, 3, 3], "float32"), "")
    with pytest.raises(
        FixedError, match=r"rnn\S* cannot be repeated: it gives \d+ results, and \d+ in the recorded run"
    ):
        branch.value(first, END)


# -- passes before the last one -------------------------------------------------------------------------------------


def test_what_an_earlier_pass_gave_is_there_before_the_run() -> None:
    """A gradient that ``paddle.grad`` gave on the way is a value like data: edits happen after it."""

    def loss(w: Tensor, g: Tensor | None = None) -> Tensor:
        h = w * w
        if g is None:
            (g,) = paddle.grad(h.sum(), [w], retain_graph=True)
        return (h * g).sum()

    w = leaves(start())["w"]
    recorder = Recorder()
    with recorder.record():
        loss(w).backward()
    line = of_tape.timeline(recorder, named={}, shown={w.leaf: "w"})
    branch = Branch(line, cursor=0)
    edited = w.array * np.float32(0.5)
    branch.edit(line.versions("w")[0], edited, "")
    by_hand = paddle.to_tensor(edited, stop_gradient=False)
    loss(by_hand, paddle.to_tensor(2 * w.array)).backward()
    np.testing.assert_array_equal(finals(line, branch)["w"], by_hand.grad.numpy())


def test_gradients_that_add_up_over_several_passes() -> None:
    """The timeline is that of the last pass: what it adds, and not what was there before."""
    x = leaves(start())
    recorder = Recorder()
    with recorder.record():
        for i in range(3):
            paddle.tanh(x["w"] * (i + 1.0)).sum().backward()
            if i == 1:
                before = x["w"].grad.numpy()
    line = of_tape.timeline(recorder, named={}, shown={t.leaf: n for n, t in x.items()})
    np.testing.assert_array_equal(before + finals(line, Branch(line))["w"], x["w"].grad.numpy())


def test_a_gradient_that_was_read_does_not_change_when_backward_adds_to_it() -> None:
    w = leaves(start())["w"]
    (w * 2.0).sum().backward()
    recorder = Recorder()
    with recorder.record():
        size = (w.grad * w.grad).sum()
        (w * size).sum().backward()
    line = of_tape.timeline(recorder, named={}, shown={w.leaf: "w"})
    expected = np.full((3, 4), 48.0, np.float32)
    np.testing.assert_array_equal(finals(line, Branch(line))["w"], expected)
    read = [np.asarray(line.store.get(n)) for e in line.entries if e.type == "elementwise_mul" for n in e.inputs]
    assert any(np.array_equal(a, np.full((3, 4), 2.0)) for a in read)


# -- long trainings --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [None, 2000])
def test_a_recorder_holds_the_last_pass_however_many_went_before(budget: int | None) -> None:
    """Data, metrics off the tape, graphs that no pass comes to, optimizers and values in place: nothing adds up."""
    layer = paddle.nn.Linear(4, 3)
    descent = paddle.optimizer.Adam(learning_rate=0.01, parameters=layer.parameters())
    draw = np.random.default_rng(0)
    mean = paddle.zeros([3])
    recorder = Recorder(budget)

    def step() -> Tensor:
        batch = paddle.to_tensor(draw.uniform(-1, 1, (5, 4)).astype("float32"))
        mask = (batch > 0.0).astype("float32")
        h = layer(batch * mask)
        aside = paddle.tanh(h) * 2.0  # on the tape, and no pass comes there
        with paddle.no_grad():
            mean.scale_(0.9)
            mean.add_(h.mean(axis=0) + aside.mean(axis=0) * 0.0)
        loss = ((h - mean) ** 2).mean()
        loss.backward()
        descent.step()
        descent.clear_grad()
        return loss

    def held() -> list[int]:
        recorder.settle()
        ledger = recorder.store
        parts = (ledger._numbers, ledger._others, ledger._torn, ledger._placed, ledger._unplaced, ledger._gone)
        return [len(recorder.store), len(recorder.calls), len(recorder._by_key), *map(len, parts)]

    with recorder.record():
        for _ in range(30):
            step()
        early = held()
        for _ in range(300):
            step()
        late = held()
    assert all(b <= 2 * a + 200 for a, b in zip(early, late, strict=True)), (early, late)
    line = of_tape.timeline(recorder, named={})
    assert len(line.entries) < 60
    assert Branch(line).value(line.loss) is not None


def test_many_writes_in_place_do_not_add_up() -> None:
    w = leaves(start())["w"]
    recorder = Recorder()
    with recorder.record():
        (w * 2.0).sum().backward()
        held = len(recorder.store)
        aside = paddle.ones([3, 4])
        for _ in range(500):
            aside.set_value(aside.numpy() + 1)
            with paddle.no_grad():
                w.set_value(w.numpy() * 0.99)
        assert len(recorder.store) <= held + 2
        (w * aside).sum().backward()
    line = of_tape.timeline(recorder, named={}, shown={w.leaf: "w"})
    np.testing.assert_array_equal(finals(line, Branch(line))["w"], aside.numpy())


class Doubled(paddle.autograd.PyLayer):
    """Through NumPy, so that nothing of it is recorded."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return paddle.to_tensor(2 * x.numpy())

    @staticmethod
    def backward(ctx: Any, dy: Any) -> Any:
        (x,) = ctx.saved_tensor()
        return 2 * dy + 0 * x


def test_an_edit_does_not_get_lost_between_two_pylayers() -> None:
    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    recorder = Recorder()
    with recorder.record():
        h = w * 3
        Doubled.apply(Doubled.apply(h)).square().sum().backward()
    line = of_tape.timeline(recorder, named={w: "w", h: "h"})
    (result,) = line.results.values()
    assert result is not None
    branch = Branch(line)
    branch.edit(line.find("h", 0) or 0, np.array([5.0, 5.0], "float32"), "")
    with pytest.raises(FixedError):
        branch.value(result, len(line.entries))
