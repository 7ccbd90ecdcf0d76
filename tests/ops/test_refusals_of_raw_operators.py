"""What operators refuse when a program states wrong numbers or types, and the words for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import KernelError, LabelError, OperatorError
from gradtool.engine.core.spec import TensorSpec, float32
from gradtool.engine.ops.registry import get_by_type


@pytest.mark.parametrize("paddings", [(), (1,), (1, 1), (1, 1, 1), (1, 1, 1, 1, 1), (0, 0, 0, -1)])
def test_paddings_of_unfold_are_four_numbers(paddings: tuple[int, ...]) -> None:
    op = get_by_type("unfold")
    attrs = op.attributes({"kernel_sizes": [2, 2], "strides": [1, 1], "paddings": paddings, "dilations": [1, 1]})
    with pytest.raises(OperatorError, match="paddings must be"):
        op.infer_specs([TensorSpec((1, 2, 4, 4), float32)], attrs)


@pytest.mark.parametrize(("rows", "label"), [(2, 3), (8, 3), (8, 7), (8, -1)])
def test_a_label_that_is_no_class_in_three_dimensions(rows: int, label: int) -> None:
    paddle.disable_static()
    labels = np.zeros((2, rows, 1), "int64")
    labels[1, 0] = label
    scores = paddle.to_tensor(np.ones((2, rows, 3), "float32"), stop_gradient=False)
    with pytest.raises(LabelError, match=f"label {label} is none of the 3 classes"):
        paddle.nn.functional.softmax_with_cross_entropy(scores, paddle.to_tensor(labels))


def test_what_goes_wrong_in_a_function_of_the_user_is_named() -> None:
    def failing(x: Any) -> Any:
        raise ZeroDivisionError("no luck")

    x = paddle.static.data("x", [2, 3])
    out = paddle.static.default_main_program().global_block().create_var("out", [2, 3])
    paddle.static.py_func(failing, x, out)
    with pytest.raises(KernelError, match="py_func failed: no luck"):
        paddle.static.Executor().run(feed={"x": np.ones((2, 3), "float32")}, fetch_list=[out])
