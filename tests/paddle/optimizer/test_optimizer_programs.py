"""Optimizers in static mode: the programs that they make, for one loss and for several."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.answers.why.of_program import explain
from gradtool.engine.answers.why.verdicts import Verdict
from gradtool.engine.ir.verify import verify
from tests.paddle.optimizer.optimizer_programs import main_ops, network, run, vector

optimizer = paddle.optimizer


pytestmark = pytest.mark.usefixtures("fresh_names")


# -- programs ---------------------------------------------------------------------------------------------------------


def test_scopes_and_roles() -> None:
    loss = network()
    x = paddle.static.default_main_program().global_block().var("a.w_0")
    x.optimize_attr["learning_rate"] = 0.5
    clip = paddle.nn.ClipGradByValue(1.0)
    sgd = optimizer.SGD(0.1, weight_decay=0.2, grad_clip=clip)
    updates, pairs = sgd.minimize(loss)
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
    a, b, c = vector("a", [3.0]), vector("b", [0.0, 4.0]), vector("c", [100.0], need_clip=False)
    clip = paddle.nn.ClipGradByGlobalNorm(1.0)
    loss = (paddle.sum(a * a) + paddle.sum(b * b) + paddle.sum(c * c)) / 2.0
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
    updates = {o.input("Param")[0]: o for o in main_ops() if o.type == "adamw"}
    assert tuple(updates) == network_names
    assert [(o.attr("with_decay"), o.attr("coeff"), o.attr("lr_ratio")) for o in updates.values()] == [
        (False, 0.0, 1.0),
        (True, 0.5, 0.5),
    ]
    optimizer.Lamb(0.1, exclude_from_weight_decay_fn=lambda p: p.name == "a.b_0").minimize(loss)
    assert [o.attr("weight_decay") for o in main_ops() if o.type == "lamb"] == [0.0, 0.01]


def test_names_of_what_is_kept() -> None:
    momentum = optimizer.Momentum(0.1, name="opt")
    loss = network()
    momentum.minimize(loss)
    momentum.minimize(loss)
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
    sgd = optimizer.SGD(0.1)
    seen: list[str] = []
    pairs = sgd.backward(loss, callbacks=[lambda block, context: seen.append(context["__current_op_desc__"].type())])
    assert seen[-1] == "mul_grad"
    count = len(main_ops())
    assert sgd.apply_gradients(pairs[:1]) == main_ops()[count:]
    assert [o.type for o in main_ops()[count:]] == ["sgd"]
    assert sgd.apply_gradients([]) == []


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


# -- several losses ---------------------------------------------------------------------------------------------------


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
    assert reasons.explain_variable(w).verdict is Verdict.OK
    assert reasons.explain(unused).verdict is Verdict.UNUSED


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
