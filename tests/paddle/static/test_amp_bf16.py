"""Programs that compute in bfloat16: operators and names as Paddle 3.1.1 gives them, values near those of float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import UnsupportedError, UsageError
from gradtool.engine.ir.verify import verify
from gradtool.paddle.static.amp import bf16

F = paddle.nn.functional
nn = paddle.static.nn


def classifier(x: Any) -> Any:
    return paddle.mean(paddle.square(F.softmax(F.relu(nn.fc(x, 5)) + 1.0)))


def pictures(x: Any) -> Any:
    h = nn.batch_norm(nn.conv2d(paddle.reshape(x, [2, 2, 3, 4]), 3, 3, padding=1))
    return paddle.mean(paddle.tanh(F.max_pool2d(h, 2)))


def branches(x: Any) -> Any:
    h = nn.fc(x, 5)
    return paddle.mean(nn.cond(paddle.mean(h) > 100.0, lambda: h * 2, lambda: paddle.matmul(h, h, transpose_y=True)))


def losses(model: Any, decorate: Any, shape: list[int]) -> tuple[list[float], Any]:
    """The losses of three steps, and the program."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    main.random_seed = startup.random_seed = 3
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
        loss = model(paddle.static.data("x", shape))
        decorate(paddle.optimizer.SGD(0.1)).minimize(loss)
    verify(main)
    executor = paddle.static.Executor()
    executor.run(startup)
    feed = {"x": np.random.default_rng(0).normal(size=shape).astype("float32")}
    return [float(executor.run(main, feed=feed, fetch_list=[loss])[0]) for _ in range(3)], main


@pytest.mark.parametrize(("model", "shape"), [(classifier, [4, 3]), (pictures, [4, 12]), (branches, [4, 3])])
def test_values_are_near_those_of_float32(model: Any, shape: list[int]) -> None:
    ours, program = losses(model, bf16.decorate_bf16, shape)
    exact, _ = losses(model, lambda optimizer: optimizer, shape)
    np.testing.assert_allclose(ours, exact, rtol=2e-2, atol=2e-3)
    assert any(v.dtype is paddle.bfloat16 for v in program.list_vars())
    assert all(p.dtype is paddle.float32 for p in program.all_parameters())
    assert exact[2] != exact[0]


def test_operators_and_names_are_those_of_paddle() -> None:
    _, program = losses(classifier, bf16.decorate_bf16, [4, 3])
    variables = program.global_block().vars
    assert [o.type for o in program.global_block().ops if o.type == "cast" or "grad" not in o.type][:11] == (
        ["cast", "cast", "mul", "cast", "elementwise_add", "relu", "scale", "cast", "softmax", "square", "reduce_mean"]
    )
    casts = ("x", "fc_0.w_0", "fc_0.b_0")
    assert all(variables[f"{n}.cast_bf16"].dtype is paddle.bfloat16 for n in casts)
    assert variables["tmp_0"].dtype is paddle.bfloat16
    assert variables["tmp_0.cast_fp32"].dtype is variables["softmax_0.tmp_0"].dtype is paddle.float32
    assert variables["fc_0.w_0@GRAD"].dtype is paddle.float32


def test_lists() -> None:
    lists = bf16.AutoMixedPrecisionListsBF16()
    assert (len(lists.bf16_list), len(lists.fp32_list), len(lists.gray_list)) == (9, 46, 46)
    moved = bf16.AutoMixedPrecisionListsBF16({"relu"}, {"matmul_v2"})
    assert "relu" in moved.bf16_list - moved.gray_list
    assert "matmul_v2" in moved.fp32_list - moved.bf16_list
    with pytest.raises(UsageError, match="overlap custom fp32 list"):
        bf16.AutoMixedPrecisionListsBF16({"relu"}, {"relu"})


def test_readers_of_a_named_variable_stay_in_float32() -> None:
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        y = paddle.static.data("x", [2, 3]) @ paddle.static.create_parameter([3, 2], "float32")
        program = paddle.static.default_main_program()
    bf16.rewrite_program_bf16(program, bf16.AutoMixedPrecisionListsBF16(custom_fp32_varnames={"x"}))
    assert y.dtype is paddle.float32
    with bf16.bf16_guard():
        bf16.rewrite_program_bf16(program)
    assert y.dtype is paddle.bfloat16


def test_what_is_not_here_says_so() -> None:
    program = paddle.static.Program()
    for call in (
        lambda: bf16.decorate_bf16(paddle.optimizer.SGD(0.1), use_pure_bf16=True),
        lambda: bf16.cast_model_to_bf16(program),
        lambda: bf16.cast_parameters_to_bf16(None, program),
    ):
        with pytest.raises(UnsupportedError, match="parameters of programs in bfloat16"):
            call()
    assert bf16.convert_float_to_uint16([1.0, -2.5, 3.14159]).tolist() == [16256, 49184, 16457]
