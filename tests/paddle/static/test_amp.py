"""``paddle.static.amp``: on a CPU Paddle 3.1.1 was seen to insert no casts, and to scale the loss."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle

static = paddle.static
amp = static.amp

pytestmark = pytest.mark.usefixtures("fresh_names")


def model() -> Any:
    half = paddle.ParamAttr(initializer=paddle.nn.initializer.Constant(0.5))
    return paddle.mean(paddle.tanh(static.nn.fc(static.data("x", [4, 3]), 2, weight_attr=half)))


def value(name: str) -> Any:
    return np.array(static.global_scope().find_var(name).get_tensor()).ravel()[0]


def run(loss: Any, spoilt: int | None = None) -> Any:
    """Five steps: scale, good steps and bad steps after each, one of them on a batch with NaN."""
    executor = static.Executor()
    executor.run(static.default_startup_program())
    for step in range(5):
        batch = np.full((4, 3), np.nan if step == spoilt else 0.5, "float32")
        executor.run(feed={"x": batch}, fetch_list=[loss])
        counters = ["loss_scaling_0", "num_good_steps_0", "num_bad_steps_0"]
        yield [float(value(n)) for n in counters if static.global_scope().find_var(n) is not None]


def types() -> list[str]:
    return [op.type for op in static.default_main_program().global_block().ops]


def test_the_scale_follows_the_steps_as_in_paddle() -> None:
    loss = model()
    optimizer = amp.decorate(
        paddle.optimizer.SGD(0.1),
        init_loss_scaling=128.0,
        use_dynamic_loss_scaling=True,
        incr_every_n_steps=2,
        decr_every_n_nan_or_inf=1,
    )
    _, pairs = optimizer.minimize(loss)
    expected = [[128, 1, 0], [256, 0, 0], [128, 0, 0], [128, 1, 0], [256, 0, 0]]
    assert list(run(loss, spoilt=2)) == expected
    assert np.isfinite(value("fc_0.w_0"))
    assert [p.name for p, _ in pairs] == ["fc_0.w_0", "fc_0.b_0"]


def test_the_older_signature_has_its_own_defaults() -> None:
    loss = model()
    with amp.fp16_guard():
        optimizer = amp.decorate(paddle.optimizer.SGD(0.1), use_pure_fp16=True, init_loss_scaling=8.0)
    optimizer.minimize(loss)
    assert list(run(loss, spoilt=2)) == [[8, 1, 0], [8, 2, 0], [8, 0, 1], [8, 1, 0], [8, 2, 0]]


@pytest.mark.parametrize(
    "settings",
    [{}, {"level": "O2"}, {"dtype": "bfloat16"}, {"use_dynamic_loss_scaling": False, "init_loss_scaling": 4.0}],
)
def test_training_is_that_of_the_optimizer_inside(settings: dict[str, Any]) -> None:
    loss = model()
    amp.decorate(paddle.optimizer.SGD(0.1), **settings).minimize(loss)
    assert "cast" not in types()
    list(run(loss))
    scaled = value("fc_0.w_0")
    with static.program_guard(static.Program(), static.Program()), static.scope_guard(static.Scope()):
        plain = model()
        paddle.optimizer.SGD(0.1).minimize(plain)
        list(run(plain))
        assert scaled == pytest.approx(value("fc_0.w_0"), rel=1e-6)


def test_the_program_is_paddles() -> None:
    loss = model()
    optimizer = amp.decorate(paddle.optimizer.SGD(0.1))
    optimizer.minimize(loss)
    block = static.default_main_program().global_block()
    checked = next(op for op in block.ops if op.type == "check_finite_and_unscale")
    gradients = ["fc_0.w_0@GRAD", "fc_0.b_0@GRAD"]
    assert (checked.input("X"), checked.output("Out"), checked.attr("op_role")) == (gradients, gradients, 2)
    assert checked.output("FoundInfinite") == ["find_infinite_scale.tmp_0"]
    updated = block.ops[block.ops.index(checked) + 1]
    assert (updated.type, updated.output("LossScaling")) == ("update_loss_scaling", ["loss_scaling_0"])
    assert (updated.attr("incr_every_n_steps"), updated.attr("decr_ratio")) == (2000, 0.5)
    assert optimizer.get_scaled_loss().name == "tmp_0"
    assert optimizer.get_lr() == 0.1


def test_a_scale_of_one_that_stays_adds_nothing() -> None:
    loss = model()
    amp.decorate(paddle.optimizer.SGD(0.1), use_dynamic_loss_scaling=False, init_loss_scaling=1.0).minimize(loss)
    assert not {"check_finite_and_unscale", "update_loss_scaling", "elementwise_mul"} & {*types()}


def test_lists_are_those_of_paddle_with_changes() -> None:
    lists = amp.CustomOpLists(custom_white_list=["mean"], custom_black_list=["mul"], custom_black_varnames=["a"])
    assert "mean" in lists.white_list - lists.black_list
    assert "mul" in lists.black_list - lists.white_list
    assert (len(amp.AutoMixedPrecisionLists().white_list), len(lists.gray_list)) == (15, 46)
    assert len(amp.CustomOpLists(dtype="bfloat16").white_list) == 13


def test_what_cannot_be_is_refused() -> None:
    sgd = paddle.optimizer.SGD(0.1)
    for settings, words in (({"level": "O3"}, "O0, OD, O1 or O2"), ({"dtype": "int8"}, "'float16' or 'bfloat16'")):
        with pytest.raises(ValueError, match=words):
            amp.decorate(sgd, **settings)
    for settings in ({"foo": 1}, {"level": "O2", "use_fp16_guard": False}):
        with pytest.raises(TypeError, match="unexpected keyword argument"):
            amp.decorate(sgd, **settings)
    with pytest.raises(ValueError, match="< mul >"):
        amp.CustomOpLists(custom_white_list=["mul"], custom_black_list=["mul"])
    with pytest.raises(AssertionError, match="minimize"):
        amp.decorate(sgd).get_loss_scaling()


def test_a_program_stays_wide() -> None:
    model()
    program = static.default_main_program()
    text = str(program)
    assert amp.cast_model_to_fp16(program) == set()
    amp.cast_parameters_to_fp16(paddle.CPUPlace(), program, to_fp16_var_names=set())
    assert str(program) == text
    with pytest.raises(ValueError, match=r"'fc_0\.w_0' is not narrow"):
        amp.cast_parameters_to_fp16(paddle.CPUPlace(), program, to_fp16_var_names={"fc_0.w_0"})
