"""Programs on JAX: the same results as on NumPy, what stays on the device, and what splits a plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.core import settings, watch
from gradtool.engine.core.errors import KernelError, LabelError
from gradtool.engine.executor.executor import Executor
from gradtool.engine.kernels.choice import backend
from gradtool.paddle import static

RNG = np.random.default_rng(3)
X = RNG.normal(size=(6, 4)).astype("float32")


@pytest.fixture(autouse=True)
def _programs() -> Iterator[None]:
    paddle.enable_static()
    with static.program_guard(static.Program(), static.Program()), static.scope_guard(static.Scope()):
        yield
    paddle.disable_static()


def net(rate: float = 0.1) -> tuple[Any, Any]:
    """The loss of a small net that Adam trains, and its first weight."""
    paddle.seed(5)
    x = static.data("x", [-1, 4])
    hidden = static.nn.fc(x, 8, activation="tanh", name="first")
    loss = paddle.mean(static.nn.fc(hidden, 3) ** 2)
    paddle.optimizer.Adam(rate).minimize(loss)
    return loss, "first.w_0"


def begun(name: str) -> Executor:
    exe = Executor(backend=name)
    exe.run(static.default_startup_program())
    return exe


def compiled(exe: Executor) -> Any:
    """The compilation of the plan that the main program made last."""
    return list(static.default_main_program().plans.values())[-1].compiled


def test_a_training_goes_as_on_numpy() -> None:
    loss, weight = net()
    sides = []
    for name in ("numpy", "jax"):
        with static.scope_guard(static.Scope()):
            paddle.seed(5)
            exe = begun(name)
            losses = [exe.run(feed={"x": X}, fetch_list=[loss])[0] for _ in range(4)]
            sides.append((losses, np.array(static.global_scope().find_var(weight).get_tensor())))
    np.testing.assert_allclose(sides[0][0], sides[1][0], rtol=1e-5)
    np.testing.assert_allclose(sides[0][1], sides[1][1], rtol=1e-4, atol=1e-6)
    assert compiled(exe).splits() == []


def test_other_shapes_are_traced_again() -> None:
    loss, _ = net()
    exe = begun("jax")
    for rows in (6, 3, 6):
        (value,) = exe.run(feed={"x": X[:rows]}, fetch_list=[loss])
        assert np.isfinite(value)


def test_values_stay_on_the_device() -> None:
    loss, weight = net()
    exe = begun("jax")
    fed = jax.device_put(X)
    exe.run(feed={"x": fed}, fetch_list=[loss])
    raw = static.global_scope().values.raw
    with jax.transfer_guard("disallow"):
        first = exe.run(feed={"x": fed}, fetch_list=[loss])
        second = exe.run(feed={"x": fed}, fetch_list=[loss])
    assert second[0] < first[0]
    assert all(isinstance(value, jax.Array) for value in raw.values())
    assert isinstance(static.global_scope().values[weight], np.ndarray)


def test_parameters_are_donated_and_nothing_that_is_held() -> None:
    loss, weight = net()
    exe = begun("jax")
    exe.run(feed={"x": X}, fetch_list=[loss])
    scope = static.global_scope()
    seen, before = scope.values[weight], np.array(scope.values[weight])
    address = scope.values.raw[weight].unsafe_buffer_pointer()
    exe.run(feed={"x": X}, fetch_list=[loss])
    assert scope.values.raw[weight].unsafe_buffer_pointer() == address  # written over
    np.testing.assert_array_equal(seen, before)
    with pytest.raises(ValueError, match="read-only"):
        seen[0] = 0
    held = scope.values.raw[weight]
    exe.run(feed={"x": X}, fetch_list=[loss])
    assert not held.is_deleted()


def test_arrays_that_are_fed_or_set_stay_what_they_are() -> None:
    v = static.create_parameter([4], "float32", name="v")
    loss = paddle.sum(v * v)
    paddle.optimizer.SGD(0.1).minimize(loss)
    exe = begun("jax")
    given = np.ones(4, "float32")
    static.global_scope().values["v"] = given
    for _ in range(3):
        exe.run(fetch_list=[loss])
    np.testing.assert_array_equal(given, np.ones(4))
    np.testing.assert_allclose(static.global_scope().values["v"], 0.8**3 * np.ones(4), rtol=1e-6)


def test_a_label_is_refused_after_the_run_and_the_scope_stays() -> None:
    x, label = static.data("x", [6, 4]), static.data("label", [6, 1], "int64")
    table = static.create_parameter([4, 5], "float32", name="table")
    loss = paddle.mean(paddle.nn.functional.softmax_with_cross_entropy(paddle.matmul(x, table), label))
    paddle.optimizer.SGD(0.1).minimize(loss)
    told = []
    for name in ("numpy", "jax"):
        with static.scope_guard(static.Scope()):
            exe = begun(name)
            before = np.array(static.global_scope().values["table"])
            with pytest.raises(LabelError) as caught:
                exe.run(feed={"x": X, "label": np.arange(6)[:, None]}, fetch_list=[loss])
            told.append(str(caught.value))
            np.testing.assert_array_equal(static.global_scope().values["table"], before)
            exe.run(feed={"x": X, "label": np.arange(6)[:, None] % 5}, fetch_list=[loss])
    assert told[0] == told[1]


def test_what_depends_on_values_is_computed_between_compiled_parts() -> None:
    x = static.data("x", [6, 4])
    kept = paddle.masked_select(paddle.tanh(x), x > 0)
    loss = paddle.sum(kept * kept)
    fetched = [Executor(backend=name).run(feed={"x": X}, fetch_list=[loss, kept]) for name in ("numpy", "jax")]
    for a, b in zip(*fetched, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    (split,) = compiled(Executor(backend="jax")).splits()
    assert split.op.type == "masked_select"
    assert "depends on values" in split.reason or "looks into values" in split.reason


def test_what_prints_prints(capsys: pytest.CaptureFixture[str]) -> None:
    x = static.data("x", [6, 4])
    out = static.Print(paddle.tanh(x), message="here")
    Executor(backend="jax").run(feed={"x": X}, fetch_list=[paddle.exp(out)])
    assert "here" in capsys.readouterr().out


def test_a_failing_operator_is_told_with_shapes_and_line() -> None:
    x, y = static.data("x", [-1, 4]), static.data("y", [-1, 4])
    out = x + y
    told = []
    for name in ("numpy", "jax"):
        with pytest.raises(KernelError) as caught:
            Executor(backend=name).run(feed={"x": X, "y": X[:5]}, fetch_list=[out])
        told.append(caught.value)
    assert told[0].op == told[1].op
    assert told[0].made == told[1].made
    assert "(inputs float32[6, 4], float32[5, 4])" in str(told[1])


def test_a_watcher_sees_what_it_sees_on_numpy() -> None:
    x, label = static.data("x", [6, 4]), static.data("label", [6, 1], "int64")
    loss = paddle.mean(paddle.nn.functional.softmax_with_cross_entropy(x, label))
    rows = []
    for name in ("numpy", "jax"):
        steps: list[Any] = []
        with watch.watch(steps.append):
            Executor(backend=name).run(feed={"x": X, "label": np.arange(6)[:, None] % 4}, fetch_list=[loss])
        rows.append(steps)
    assert [s.op.type for s in rows[0]] == [s.op.type for s in rows[1]]
    for a, b in zip(*rows, strict=True):
        for here, there in zip((*a.inputs, *a.outputs), (*b.inputs, *b.outputs), strict=True):
            assert isinstance(there, np.ndarray)
            np.testing.assert_allclose(here, there, rtol=1e-5)
    with watch.watch(steps.append), pytest.raises(LabelError):
        Executor(backend="jax").run(feed={"x": X, "label": np.full((6, 1), 9)}, fetch_list=[loss])


def test_more_outputs_of_a_compiled_plan() -> None:
    x = static.data("x", [6, 4])
    out = paddle.log(paddle.tanh(x))
    with Executor(backend="jax").hold(feed={"x": X}, fetch_list=[out]) as (plan, registers):
        look = backend("jax").compile(plan, lambda i, given, made: [jax.numpy.isfinite(v).all() for v in made])  # type: ignore[call-arg]
        assert look is not None
        finite = {plan.instructions[index].op.type: bool(flags[0]) for index, flags in look(registers)}  # type: ignore[union-attr]
    assert finite == {"tanh": True, "log": False}


def test_dynamic_mode_computes_on_the_reference() -> None:
    paddle.disable_static()
    with settings.keep_settings():
        gradtool.set_backend("jax")
        w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        (w * w).sum().backward()
        assert w.grad.tolist() == [2.0, 4.0]
        assert isinstance(w.grad.array, np.ndarray)


def test_handles_hold_what_stays_on_the_device_also_when_it_is_updated_later() -> None:
    loss, weight = net()
    exe = begun("jax")
    exe.run(feed={"x": X}, fetch_list=[loss])
    value, held = exe.run(feed={"x": X}, fetch_list=[loss, weight], return_numpy=False)
    assert isinstance(held.value, jax.Array)
    assert isinstance(value.value, jax.Array)
    before = np.array(held)
    exe.run(feed={"x": X}, fetch_list=[loss])
    np.testing.assert_array_equal(np.array(held), before)
    after = np.array(static.global_scope().find_var(weight).get_tensor())
    assert not np.array_equal(after, before)
