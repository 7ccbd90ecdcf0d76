"""Optimizers in static mode: the programs that they make, the values after steps, and what they refuse."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtool as paddle
from gradtool import _alias
from gradtool.engine.errors import GradtoolError
from gradtool.engine.ir.verify import verify
from gradtool.engine.reasons import Verdict, explain
from tests.parity import replay

optimizer = paddle.optimizer
HERE = Path(__file__).parent
VALUES = json.loads((HERE / "optimizer_values.json").read_text())
"""A parameter after five steps of Paddle 3.1.1, by the expression that makes the optimizer."""
SCHEDULES = json.loads((HERE / "schedule_values.json").read_text())
"""The first learning rates of Paddle 3.1.1, by the expression that makes the schedule."""


@pytest.fixture(autouse=True)
def fresh_names() -> Iterator[None]:
    with paddle.utils.unique_name.guard():
        yield


def network() -> Any:
    """The mean square of a layer with parameters ``a.w_0`` and ``a.b_0``."""
    x = paddle.static.data("x", [4, 3])
    return paddle.mean(paddle.square(paddle.static.nn.fc(x, 2, name="a")))


def vector(name: str, values: Any, **settings: Any) -> Any:
    init = paddle.nn.initializer.Assign(np.asarray(values, "float32"))
    return paddle.static.create_parameter(
        [len(values)], "float32", attr=paddle.ParamAttr(name=name, initializer=init, **settings)
    )


def main_ops() -> list[Any]:
    return paddle.static.default_main_program().global_block().ops


def run(fetch: list[Any], startup: bool = False, **feed: Any) -> list[np.ndarray]:
    exe = paddle.static.Executor()
    if startup:
        exe.run(paddle.static.default_startup_program())
    return exe.run(feed=feed, fetch_list=fetch)


# -- values -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("expression", VALUES)
def test_five_steps(expression: str) -> None:
    rng = np.random.RandomState(0)
    start = rng.randn(3, 2).astype("float32")
    batches = rng.randn(5, 4, 3).astype("float32")
    x = paddle.static.data("x", [4, 3])
    w = paddle.static.create_parameter(
        [3, 2], "float32", name="w", default_initializer=paddle.nn.initializer.Assign(start)
    )
    made = eval(f"optimizer.{expression}", {"optimizer": optimizer, "paddle": paddle})
    made.minimize(paddle.mean(paddle.square(x @ w - 1.0)))
    verify(paddle.static.default_main_program())
    for i, batch in enumerate(batches):
        (after,) = run([w], startup=i == 0, x=batch)
    np.testing.assert_allclose(after.reshape(-1), VALUES[expression], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "name", [n for n in replay.names("s") if "minimize" in (replay.CASES / "models" / f"{n}.py").read_text()]
)
def test_recorded_steps(name: str) -> None:
    with _alias.active():
        case = replay.Replay(name)
    case.reset()
    losses = [case.run([case.outputs["loss"].name]) for _ in range(case.record["steps"]["n"])]
    for ours, recorded in zip(losses, case.record["steps"]["losses"], strict=True):
        assert replay.close(ours[0].reshape(-1), np.array(recorded, "float32")) is None
    for variable, value in case.record["after_steps"].items():
        after = np.array(case.scope.find_var(variable).get_tensor())
        assert replay.close(after, replay.array(value)) is None, variable


@pytest.mark.parametrize(
    "kind", ["SGD", "Momentum", "Adam", "AdamW", "Adagrad", "Adadelta", "Adamax", "RMSProp", "Lamb"]
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dtypes_stay(kind: str, dtype: str) -> None:
    paddle.set_default_dtype(dtype)
    loss = network_of(dtype)
    getattr(optimizer, kind)(learning_rate=0.1).minimize(loss)
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    scope = paddle.static.global_scope()
    exe.run(feed={"x": np.ones((4, 3), dtype)}, fetch_list=[loss])
    for v in paddle.static.default_main_program().list_vars():
        if v.persistable:
            value = np.array(scope.find_var(v.name).get_tensor())
            assert (value.dtype, value.shape) == (v.dtype.numpy, v.shape), v.name


def network_of(dtype: str) -> Any:
    x = paddle.static.data("x", [4, 3], dtype)
    w = paddle.static.create_parameter([3, 2], dtype, name="w")
    b = paddle.static.create_parameter([], dtype, name="b", is_bias=True)
    return paddle.mean(paddle.square(x @ w + b))


# -- schedules ----------------------------------------------------------------------------------------------------


def schedule(expression: str) -> Any:
    return eval(expression, {n: getattr(optimizer.lr, n) for n in optimizer.lr.__all__})


@pytest.mark.parametrize("expression", SCHEDULES)
def test_schedule(expression: str) -> None:
    made = schedule(expression)
    rates = [made()]
    for _ in SCHEDULES[expression][1:]:
        made.step()
        rates.append(made())
    np.testing.assert_allclose(rates, SCHEDULES[expression], rtol=1e-8, atol=1e-12)
    jumped, loaded = schedule(expression), schedule(expression)
    jumped.step(9)
    assert jumped() == pytest.approx(rates[9])
    loaded.set_state_dict(jumped.state_dict())
    jumped.step()
    loaded.step()
    assert loaded() == jumped() == pytest.approx(rates[10])


def test_a_cycle_scaled_by_a_function() -> None:
    made = optimizer.lr.CyclicLR(0.0, 1.0, 1, scale_fn=lambda step: step, scale_mode="iterations")
    rates = [made()]
    for _ in range(4):
        made.step()
        rates.append(made())
    assert rates == [0.0, 1.0, 0.0, 3.0, 0.0]


def test_reduce_on_plateau() -> None:
    made = optimizer.lr.ReduceOnPlateau(1.0, factor=0.5, patience=1, cooldown=1, threshold=0.1)
    rates = []
    for metric in [1.0, 0.8, 0.79, 0.78, 0.77, 0.76, 0.75, 0.2, 0.2, 0.2, 0.2, 0.2]:
        made.step(np.float32(metric))
        rates.append(made())
    assert rates == [1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.125, 0.125]


def test_reduce_on_plateau_wants_more() -> None:
    made = optimizer.lr.ReduceOnPlateau(1.0, mode="max", patience=0, threshold_mode="abs", threshold=0.5, min_lr=0.3)
    for metric, rate in [(1.0, 1.0), (1.4, 0.3), (1.6, 0.3), (9.0, 0.3)]:
        made.step(metric)
        assert made() == rate
    with pytest.raises(TypeError, match="one number"):
        made.step("high")


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("StepDecay('a', 2)", TypeError),
        ("StepDecay(-1.0, 2)", ValueError),
        ("StepDecay(0.1, 2.5)", TypeError),
        ("StepDecay(0.1, 2, 1.0)", ValueError),
        ("NoamDecay(0, 2)", ValueError),
        ("PolynomialDecay(0.1, 0)", AssertionError),
        ("LinearWarmup('a', 2, 0.0, 1.0)", TypeError),
        ("LinearWarmup(0.1, 2, 1.0, 0.5)", AssertionError),
        ("MultiStepDecay(0.1, 3)", TypeError),
        ("MultiStepDecay(0.1, [3, 2])", ValueError),
        ("MultiStepDecay(0.1, [2, 3], 1.5)", ValueError),
        ("LambdaDecay(0.1, 3)", TypeError),
        ("CosineAnnealingDecay(0.1, 0)", AssertionError),
        ("CosineAnnealingDecay(0.1, 2.0)", TypeError),
        ("CosineAnnealingWarmRestarts(0.1, 0)", ValueError),
        ("ExponentialDecay(0.1, 2.0)", AssertionError),
        ("PiecewiseDecay([1], [0.1])", ValueError),
        ("LinearLR(0.1, 3, 0.0)", ValueError),
        ("LinearLR(0.1, 0)", ValueError),
        ("LinearLR(0.1, 3, end_factor=2.0)", ValueError),
        ("ReduceOnPlateau(0.1, factor=1.0)", ValueError),
        ("ReduceOnPlateau(0.1, mode='x')", ValueError),
        ("NaturalExpDecay(0.1, -1.0)", AssertionError),
        ("OneCycleLR('a', 3)", TypeError),
        ("OneCycleLR(1.0, 0)", ValueError),
        ("OneCycleLR(1.0, 2.5)", TypeError),
        ("OneCycleLR(1.0, 3, end_learning_rate=-1.0)", ValueError),
        ("OneCycleLR(1.0, 3, phase_pct=0.6, three_phase=True)", ValueError),
        ("OneCycleLR(1.0, 3, anneal_strategy='x')", ValueError),
        ("OneCycleLR(1.0, 3).step(4)", ValueError),
        ("CyclicLR(0.1, 0.5, 0)", ValueError),
        ("CyclicLR(0.1, 0.5, 3, 0)", ValueError),
        ("CyclicLR(0.1, 0.5, 3, mode='x')", ValueError),
        ("CyclicLR(0.1, 0.5, 3, scale_fn=3)", TypeError),
        ("CyclicLR(0.1, 0.5, 3, scale_fn=abs, scale_mode='x')", ValueError),
    ],
)
def test_a_schedule_refuses(expression: str, error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        schedule(expression)
    assert isinstance(caught.value, GradtoolError)


def test_a_state_must_be_whole() -> None:
    with pytest.raises(RuntimeError, match="last_epoch"):
        optimizer.lr.StepDecay(0.1, 2).set_state_dict({})
    warmup = optimizer.lr.LinearWarmup(optimizer.lr.StepDecay(0.5, 2), 4, 0.1, 0.4)
    state = warmup.state_dict()
    assert state["LinearWarmup_LR"] == {"last_epoch": 0, "last_lr": 0.5}
    del state["LinearWarmup_LR"]
    with pytest.raises(RuntimeError, match="LinearWarmup_LR"):
        warmup.set_state_dict(state)


def test_a_schedule_announces(capsys: pytest.CaptureFixture[str]) -> None:
    optimizer.lr.StepDecay(0.5, 1, verbose=True).step()
    assert capsys.readouterr().out.splitlines() == [
        "Epoch 0: StepDecay set learning rate to 0.5.",
        "Epoch 1: StepDecay set learning rate to 0.05.",
    ]


def test_every_run_uses_the_rate_of_the_schedule() -> None:
    w = vector("w", [1.0, 2.0])
    rates = optimizer.lr.PiecewiseDecay([1, 2], [0.5, 0.25, 0.125])
    made = optimizer.SGD(rates)
    made.minimize(paddle.sum(w))
    copy = paddle.static.default_main_program().clone()
    seen = [run([w, "learning_rate_0"], startup=True)]
    rates.step()
    seen.append(run([w, "learning_rate_0"]))
    rates.step()
    seen.append(paddle.static.Executor().run(copy, fetch_list=["w", "learning_rate_0"]))
    assert [(a.tolist(), float(r)) for a, r in seen] == [
        ([0.5, 1.5], 0.5),
        ([0.25, 1.25], 0.25),
        ([0.125, 1.125], 0.125),
    ]
    assert made.get_lr() == 0.125


# -- programs -----------------------------------------------------------------------------------------------------


def test_scopes_and_roles() -> None:
    loss = network()
    x = paddle.static.default_main_program().global_block().var("a.w_0")
    x.optimize_attr["learning_rate"] = 0.5
    clip = paddle.nn.ClipGradByValue(1.0)
    made = optimizer.SGD(0.1, weight_decay=0.2, grad_clip=clip)
    updates, pairs = made.minimize(loss)
    tail = [(o.type, o.attr("op_namescope"), o.attr("op_role"), o.attr("op_role_var")) for o in main_ops()[-9:]]
    b, w = ["a.b_0", "clip_0.tmp_0"], ["a.w_0", "clip_1.tmp_0"]
    assert tail == [
        ("clip", "/gradient_clip/", 2, b),
        ("clip", "/gradient_clip/", 2, w),
        ("scale", "/regularization/", 2, b),
        ("sum", "/regularization/", 2, b),
        ("scale", "/regularization/", 2, w),
        ("sum", "/regularization/", 2, w),
        ("sgd", "/optimizer/", 2, b),
        ("scale", "/optimizer_1/scale_with_param_lr/", 18, []),
        ("sgd", "/optimizer_1/", 2, w),
    ]
    assert updates == main_ops()[-3:]
    assert [(p.name, g.name) for p, g in pairs] == [("a.w_0", "a.w_0@GRAD"), ("a.b_0", "a.b_0@GRAD")]
    verify(paddle.static.default_main_program())


def test_global_norm_writes_in_place() -> None:
    a, b, kept = vector("a", [3.0]), vector("b", [0.0, 4.0]), vector("c", [100.0], need_clip=False)
    clip = paddle.nn.ClipGradByGlobalNorm(1.0)
    loss = (paddle.sum(a * a) + paddle.sum(b * b) + paddle.sum(kept * kept)) / 2.0
    optimizer.SGD(0.0, grad_clip=clip).minimize(loss)
    values = run(["a@GRAD", "b@GRAD", "c@GRAD"], startup=True)
    np.testing.assert_allclose(values[0], [0.6], rtol=1e-6)
    np.testing.assert_allclose(values[1], [0.0, 0.8], rtol=1e-6)
    np.testing.assert_allclose(values[2], [100.0])
    verify(paddle.static.default_main_program())


def test_global_norm_of_a_scalar_parameter() -> None:
    s = paddle.static.create_parameter([], "float32", name="s", default_initializer=paddle.nn.initializer.Constant(2.0))
    optimizer.SGD(1.0, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5)).minimize(s * s)
    (after,) = run([s], startup=True)
    assert after.shape == ()
    assert float(after) == pytest.approx(1.5)


def test_an_own_regularizer_wins() -> None:
    own = paddle.regularizer.L1Decay(0.5)
    vector("a", [2.0, -2.0], regularizer=own)
    vector("b", [2.0, -2.0])
    block = paddle.static.default_main_program().global_block()
    loss = paddle.sum(block.var("a")) + paddle.sum(block.var("b"))
    optimizer.Momentum(1.0, 0.0, weight_decay=0.25).minimize(loss)
    assert [o.attr("regularization_method") for o in main_ops() if o.type == "momentum"] == ["", "l2_decay"]
    a, b = run(["a", "b"], startup=True)
    assert a.tolist() == [0.5, -2.5]
    assert b.tolist() == [0.5, -2.5]


def test_texts() -> None:
    things = [
        paddle.regularizer.L2Decay(0.1),
        paddle.regularizer.L1Decay(0.1),
        paddle.nn.ClipGradByNorm(1.0),
        paddle.nn.ClipGradByValue(1.0),
        paddle.nn.ClipGradByGlobalNorm(1.0),
    ]
    assert list(map(str, things)) == [
        "L2Decay, coeff=0.100000",
        "L1Decay, coeff=0.100000",
        "Gradient Clip By Norm, clip_norm=1.000000",
        "Gradient Clip By Value, min = -1.000000, max=1.000000",
        "Gradient Clip By GlobalNorm, global_norm=1.000000",
    ]


def test_settings_by_parameter() -> None:
    network_names = ("a.b_0", "a.w_0")
    loss = network()
    optimizer.AdamW(
        0.1,
        weight_decay=0.5,
        apply_decay_param_fun=lambda n: n.endswith("w_0"),
        lr_ratio=lambda p: 0.5 if p.name == "a.w_0" else 1.0,
    ).minimize(loss)
    found = {o.input("Param")[0]: o for o in main_ops() if o.type == "adamw"}
    assert tuple(found) == network_names
    assert [(o.attr("with_decay"), o.attr("coeff"), o.attr("lr_ratio")) for o in found.values()] == [
        (False, 0.0, 1.0),
        (True, 0.5, 0.5),
    ]
    optimizer.Lamb(0.1, exclude_from_weight_decay_fn=lambda p: p.name == "a.b_0").minimize(loss)
    assert [o.attr("weight_decay") for o in main_ops() if o.type == "lamb"] == [0.0, 0.01]


def test_names_of_what_is_kept() -> None:
    made = optimizer.Momentum(0.1, name="opt")
    loss = network()
    made.minimize(loss)
    made.minimize(loss)
    optimizer.Momentum(0.1).minimize(loss)
    names = [v.name for v in paddle.static.default_main_program().list_vars() if v.persistable]
    assert names == [
        "a.w_0",
        "a.b_0",
        "learning_rate_0",
        "a.b_0_opt_velocity_0",
        "a.w_0_opt_velocity_0",
        "learning_rate_1",
        "a.b_0_velocity_0",
        "a.w_0_velocity_0",
    ]


def test_the_two_halves() -> None:
    loss = network()
    made = optimizer.SGD(0.1)
    seen: list[str] = []
    pairs = made.backward(loss, callbacks=[lambda block, context: seen.append(context["__current_op_desc__"].type())])
    assert seen[-1] == "mul_grad"
    count = len(main_ops())
    assert made.apply_gradients(pairs[:1]) == main_ops()[count:]
    assert [o.type for o in main_ops()[count:]] == ["sgd"]
    assert made.apply_gradients([]) == []


def test_startup_goes_where_it_is_asked_for() -> None:
    loss = network()
    startup = paddle.static.Program()
    optimizer.Adam(0.1).minimize(loss, startup_program=startup)
    assert len(startup.global_block().ops) == 9
    with pytest.raises(TypeError, match="startup_program"):
        optimizer.Adam(0.1).minimize(loss, startup_program=loss)


def test_parameters_of_the_constructor() -> None:
    loss = network()
    b = paddle.static.default_main_program().global_block().var("a.b_0")
    updates, _ = optimizer.SGD(0.1, parameters=[b]).minimize(loss)
    assert [o.input("Param") for o in updates] == [["a.b_0"]]
    updates, _ = optimizer.SGD(0.1, parameters=[b]).minimize(loss, parameters=["a.w_0"])
    assert [o.input("Param") for o in updates] == [["a.w_0"]]


def test_groups_have_settings_of_their_own() -> None:
    loss = network()
    block = paddle.static.default_main_program().global_block()
    groups = [{"params": [block.var("a.w_0")], "learning_rate": 0.5, "weight_decay": 0.25}, block.var("a.b_0")]
    optimizer.SGD(0.1, parameters=groups, weight_decay=0.75).minimize(loss)
    assert [o.attr("scale") for o in main_ops() if o.type == "scale"] == [0.75, 0.25, 0.5]
    optimizer.AdamW(0.1, parameters=groups, weight_decay=0.75).minimize(loss)
    assert [o.attr("coeff") for o in main_ops() if o.type == "adamw"] == [0.75, 0.25]


def test_programs_with_updates_are_copied_and_read_back() -> None:
    loss = network()
    optimizer.Adamax(optimizer.lr.NoamDecay(4, 3)).minimize(loss)
    main = paddle.static.default_main_program()
    assert str(paddle.static.Program.parse_from_string(str(main))) == str(main)
    tested = main.clone(for_test=True)
    assert [o.type for o in tested.global_block().ops] == ["mul", "elementwise_add", "square", "reduce_mean"]
    x = np.ones((4, 3), "float32")
    (first,) = run([loss], startup=True, x=x)  # the first rate of NoamDecay is 0, so nothing changes
    assert paddle.static.Executor().run(tested, feed={"x": x}, fetch_list=[loss.name])[0] == first


def test_nothing_to_update() -> None:
    assert optimizer.SGD(0.1).minimize(paddle.mean(paddle.static.data("x", [4]))) == ([], [])


# -- several losses -----------------------------------------------------------------------------------------------


def test_a_second_loss_of_the_same_values() -> None:
    w = vector("w", [1.0, 2.0])
    square = w * w
    first, second = paddle.sum(square), paddle.sum(square * square)
    optimizer.SGD(0.125).minimize(first)
    _, pairs = optimizer.SGD(0.0).minimize(second)
    after, gradient = run([w, pairs[0][1]], startup=True)
    assert after.tolist() == [0.75, 1.5]
    assert gradient.tolist() == [4.0, 32.0]  # 4·w³ of the weights that the loss was computed from


def test_a_loss_computed_after_an_update() -> None:
    w = vector("w", [1.0, 2.0])
    square = w * w
    optimizer.SGD(0.125).minimize(paddle.sum(square))
    later = paddle.sum(w * w * w)
    (gradient,) = paddle.static.gradients([later], [w])
    _, pairs = optimizer.SGD(0.0).minimize(later)
    _, mixed = optimizer.SGD(0.0).minimize(paddle.sum(square * w))
    values = run([gradient, pairs[0][1], mixed[0][1]], startup=True)
    now, before = np.array([0.75, 1.5]), np.array([1.0, 2.0])
    np.testing.assert_allclose(values[0], 3 * now**2)
    np.testing.assert_allclose(values[1], 3 * now**2)
    np.testing.assert_allclose(values[2], before**2 + 2 * before * now)  # the update counts as a constant
    verify(paddle.static.default_main_program())


def test_verdicts_after_an_update() -> None:
    w, unused = vector("w", [1.0, 2.0]), vector("u", [1.0])
    optimizer.SGD(0.125).minimize(paddle.sum(w * w))
    later = paddle.sum(w * w * w)
    reasons = explain(main_ops(), [later])
    assert reasons.of(w).verdict is Verdict.OK
    assert reasons.of(unused).verdict is Verdict.UNUSED


def test_two_networks_in_turn() -> None:
    g, d = vector("g", [1.0]), vector("d", [2.0])
    real = paddle.static.data("real", [1])
    judged = paddle.sum(d * g - d * real)
    optimizer.SGD(0.25, parameters=[d]).minimize(judged)
    _, pairs = optimizer.SGD(0.5, parameters=[g]).minimize(-paddle.sum(d * g))
    assert [p.name for p, _ in pairs] == ["g"]
    new_d, new_g = run([d, g], startup=True, real=np.array([3.0], "float32"))
    assert new_d.tolist() == [2.5]  # d - 0.25·(g - real)
    assert new_g.tolist() == [2.25]  # g + 0.5·(the new d)


# -- errors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "errors"),
    [
        ("SGD(None)", (ValueError,)),
        ("SGD('a')", (TypeError,)),
        ("SGD(1)", (TypeError,)),
        ("Adam(None)", (AssertionError,)),
        ("SGD(0.1, weight_decay='a')", (TypeError,)),
        ("SGD(0.1, grad_clip=3)", (TypeError,)),
        ("SGD(0.1, parameters=3)", (TypeError,)),
        ("SGD(0.1, parameters=['a'])", (AttributeError,)),
        ("SGD(0.1, parameters=[{'params': [], 'beta1': 0.5}])", (ValueError,)),
        ("SGD(0.1, parameters=[{'learning_rate': 0.5}])", (ValueError,)),
        ("SGD(0.1, parameters=[{'params': [], 'learning_rate': 'a'}])", (TypeError,)),
        ("SGD(0.1, multi_precision=True)", (ValueError,)),
        ("Momentum(0.1, None)", (ValueError,)),
        ("Adam(0.1, beta1=1.0)", (ValueError,)),
        ("Adam(0.1, beta1=None)", (AssertionError,)),
        ("Adam(0.1, beta2='a')", (TypeError,)),
        ("Adam(0.1, epsilon=-1)", (ValueError,)),
        ("AdamW(0.1, weight_decay='a')", (TypeError,)),
        ("Adagrad(0.1, epsilon=None)", (AssertionError,)),
        ("Adadelta(0.1, rho=None)", (AssertionError,)),
        ("RMSProp(0.1, rho=None)", (ValueError,)),
        ("RMSProp(0.1, rho=-1.0)", (ValueError,)),
        ("Lamb(0.1, lamb_weight_decay=None)", (AssertionError,)),
    ],
)
def test_settings_that_do_not_fit(expression: str, errors: tuple[type[Exception], ...]) -> None:
    with pytest.raises(GradtoolError) as caught:
        eval(f"optimizer.{expression}", {"optimizer": optimizer})
    assert isinstance(caught.value, errors)


def test_a_loss_must_be_a_variable_of_one_element() -> None:
    made = optimizer.SGD(0.1)
    for loss in (None, 3, "loss"):
        with pytest.raises(AssertionError, match="The loss should be a Variable"):
            made.minimize(loss)
    x = paddle.static.data("x", [4, 3])
    with pytest.raises(AssertionError, match="elements of loss should be 1"):
        made.minimize(paddle.static.nn.fc(x, 2))


def test_limits_and_coefficients() -> None:
    with pytest.raises(AssertionError, match="must be positive"):
        paddle.nn.ClipGradByValue(-1.0)
    assert vars(paddle.nn.ClipGradByValue(1.0, 0.5)) == {"max": 1.0, "min": 0.5}
    with pytest.raises(TypeError, match="coeff"):
        paddle.regularizer.L2Decay("a")


class Failing(paddle.nn.ClipGradByNorm):
    """Clips, then fails."""

    def __call__(self, params_grads: Any) -> Any:
        super().__call__(params_grads)
        raise RuntimeError("clipping failed")


def test_a_failure_changes_nothing() -> None:
    loss = network()
    main, startup = paddle.static.default_main_program(), paddle.static.default_startup_program()
    before = str(main), str(startup)
    with pytest.raises(RuntimeError, match="clipping failed"):
        optimizer.Adam(0.1, grad_clip=Failing(1.0)).minimize(loss)
    made = optimizer.AdamW(0.1, lr_ratio=lambda p: 1 / (p.name != "a.w_0"))
    with pytest.raises(ZeroDivisionError):
        made.minimize(loss)
    assert (str(main), str(startup)) == before
    verify(main)
    made._lr_ratio = None
    _, pairs = made.minimize(loss)
    assert [g.name for _, g in pairs] == ["a.w_0@GRAD", "a.b_0@GRAD"]
    assert [o.type for o in main_ops()[-2:]] == ["adamw", "adamw"]
    run([loss], startup=True, x=np.ones((4, 3), "float32"))


def test_functions_of_the_other_mode() -> None:
    made = optimizer.SGD(optimizer.lr.StepDecay(0.1, 2))
    for call in (lambda: made.set_lr(0.1), lambda: made.set_lr_scheduler(optimizer.lr.StepDecay(0.1, 2))):
        with pytest.raises(AssertionError, match="dynamic mode"):
            call()


# -- version 1 ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SGDOptimizer(0.1)", "SGD(0.1)"),
        ("SGD(learning_rate=0.1, regularization=L2Decay(0.2))", "SGD(0.1, weight_decay=0.2)"),
        ("MomentumOptimizer(0.1, 0.8, None, True)", "Momentum(0.1, 0.8, use_nesterov=True)"),
        ("AdamOptimizer(0.1, 0.8, 0.9, 1e-3)", "Adam(0.1, 0.8, 0.9, 1e-3)"),
        ("AdagradOptimizer(0.1, 1e-3)", "Adagrad(0.1, 1e-3)"),
        ("AdamaxOptimizer(0.1)", "Adamax(0.1)"),
        ("AdadeltaOptimizer(0.1, 1e-3, 0.9)", "Adadelta(0.1, 1e-3, 0.9)"),
        ("RMSPropOptimizer(0.1, 0.9, 1e-3, 0.5, True)", "RMSProp(0.1, 0.9, 1e-3, 0.5, True)"),
        ("LambOptimizer(0.1, 0.2)", "Lamb(0.1, 0.2)"),
        ("SGD(0.1, grad_clip=GradientClipByNorm(0.1))", "SGD(0.1, grad_clip=ClipGradByNorm(0.1))"),
    ],
)
def test_names_of_version_1(old: str, new: str) -> None:
    fluid = paddle.fluid
    names = {n: getattr(fluid.optimizer, n) for n in dir(fluid.optimizer)}
    names |= {n: getattr(m, n) for m in (fluid.regularizer, fluid.clip) for n in dir(m)}
    todays = {n: getattr(optimizer, n) for n in dir(optimizer)} | {"ClipGradByNorm": paddle.nn.ClipGradByNorm}
    texts = []
    for expression, known in ((old, names), (new, todays)):
        main = paddle.static.Program()
        with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, paddle.static.Program()):
            eval(expression, known).minimize(network())
        texts.append(str(main))
    assert texts[0] == texts[1]


def test_arguments_of_version_1() -> None:
    adam = paddle.fluid.optimizer.AdamOptimizer
    loss = network()
    b = paddle.static.default_main_program().global_block().var("a.b_0")
    updates, _ = adam(parameter_list=[b]).minimize(loss)
    assert [o.input("Param") for o in updates] == [["a.b_0"]]
    updates, _ = adam().minimize(loss, parameter_list=["a.w_0"])
    assert [o.input("Param") for o in updates] == [["a.w_0"]]
    for arguments in ({"parameters": [b]}, {"beta3": 0.1}):
        with pytest.raises(TypeError, match="no argument"):
            adam(**arguments)
    with pytest.raises(TypeError, match="two values for 'learning_rate'"):
        adam(0.1, learning_rate=0.1)
    with pytest.raises(TypeError, match="up to 9 arguments"):
        adam(*range(12))
