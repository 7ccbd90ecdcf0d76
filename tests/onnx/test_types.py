"""Element types of the standard that gradtool has not: they are kept in wider ones, with their own values."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto

from gradtool import paddle
from gradtool.engine.core.errors import FileFormatError
from gradtool.engine.executor.scope import Scope, global_scope, scope_guard
from gradtool.engine.importers import Imported
from gradtool.engine.importers.onnx import reading
from gradtool.engine.importers.onnx.narrow_types import NOTE
from gradtool.paddle.utils import unique_name
from tests.onnx.models import model, node, weights


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    with scope_guard(Scope()), unique_name.guard():
        yield
    paddle.disable_static()


def read(content: Any) -> Imported:
    return reading.read(content.SerializeToString(), "model.onnx", Path())


def run(result: Imported, *others: Any, **feed: Any) -> list[Any]:
    paddle.enable_static()
    return paddle.static.Executor().run(  # type: ignore[no-any-return]
        result.program, feed=feed, fetch_list=[*result.outputs, *others]
    )


def slope(result: Imported, name: str) -> Any:
    """The gradient of the sum of the first output."""
    paddle.enable_static()
    block = result.program.global_block()
    v = block.vars[name]
    with paddle.static.program_guard(result.program):
        loss = paddle.sum(block.vars[result.outputs[0]])
        ((_, gradient),) = paddle.static.append_backward(loss, parameter_list=[v])
    return gradient


def test_weights_in_four_bits_are_parameters_with_the_numbers_that_they_stand_for() -> None:
    whole = np.arange(-8, 4).reshape(4, 3).astype(ml_dtypes.int4)
    scale, zero = np.float32([[0.5, 0.25, 2.0], [1.0, 1.0, 3.0]]), np.ones((2, 3)).astype(ml_dtypes.int4)
    content = model(
        [
            node("DequantizeLinear", "w scale zero", "real", axis=0, block_size=2),
            node("MatMul", "x real", "y"),
        ],
        {"x": [2, 4]},
        ["y"],
        {"w": whole, "scale": scale, "zero": zero},
        opset=21,
    )
    result = read(content)
    expected = (whole.astype("float32") - 1) * np.repeat(scale, 2, axis=0)
    assert [p.name for p in result.program.all_parameters()] == ["w"]
    np.testing.assert_array_equal(global_scope().values["w"], expected)
    assert NOTE.format("int4", "int8") in result.notes
    x = weights(2, 4)
    gradient = slope(result, "w")
    y, dw = run(result, gradient, x=x)
    np.testing.assert_allclose(y, x @ expected, rtol=1e-6)
    np.testing.assert_allclose(dw, np.repeat(x.sum(0)[:, None], 3, axis=1), rtol=1e-6)


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (TensorProto.FLOAT8E4M3FN, ml_dtypes.float8_e4m3fn),
        (TensorProto.FLOAT8E5M2, ml_dtypes.float8_e5m2),
        (TensorProto.FLOAT4E2M1, ml_dtypes.float4_e2m1fn),
    ],
)
def test_rounding_to_few_bits_is_that_of_ml_dtypes_and_gradients_pass_it(number: int, kind: Any) -> None:
    rng = np.random.default_rng(0)
    largest = float(ml_dtypes.finfo(kind).max)
    x = (rng.standard_normal(4000) * 2.0 ** rng.integers(-12, 3, 4000)).astype("float32")
    x[:6] = [0, largest, -largest, 1, 2**-7, 3 * 2**-8]
    x = np.clip(x, -largest, largest)
    content = model(
        [node("Cast", "x", "small", to=number), node("Cast", "small", "y", to=TensorProto.FLOAT)],
        {},
        ["y"],
        {"x": x},
        opset=23,
    )
    result = read(content)
    gradient = slope(result, "x")
    y, dx = run(result, gradient)
    expected = x.astype(kind).astype("float32")
    np.testing.assert_allclose(y, expected, rtol=1e-6, atol=1e-9)  # x and the difference to it are added again
    np.testing.assert_array_equal(dx, np.ones_like(x))


def test_sums_of_unsigned_numbers_wrap_as_their_bits_do() -> None:
    content = model(
        [node("Add", "a b", "sum"), node("Sub", "a b", "rest"), node("BitwiseNot", "a", "turned")],
        {"a": [3], "b": [3]},
        ["sum", "rest", "turned"],
        opset=18,
        kinds={"a": TensorProto.UINT16, "b": TensorProto.UINT16},
    )
    a, b = np.uint16([65535, 1, 7]), np.uint16([2, 3, 7])
    total, rest, turned = run(read(content), a=a.astype("int32"), b=b.astype("int32"))
    np.testing.assert_array_equal(total, (a + b).astype("int32"))
    np.testing.assert_array_equal(rest, (a - b).astype("int32"))
    np.testing.assert_array_equal(turned, (~a).astype("int32"))


def test_whole_numbers_above_what_holds_them_are_refused() -> None:
    content = model([node("Add", "x big", "y")], {"x": [1]}, ["y"], {"big": np.uint64([1 << 63])})
    with pytest.raises(FileFormatError, match=r"the element 9223372036854775808 of 'big': of uint64 those below"):
        read(content)
