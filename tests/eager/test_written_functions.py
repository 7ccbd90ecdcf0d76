"""The functions that are written out for each operator: their texts, and what tracebacks show of them.

``python -m tests.eager.test_written_functions`` writes the golden texts anew.
"""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core import generated_code
from gradtool.engine.eager.generated_functions import compile_pull
from gradtool.engine.eager.recipe import recipes
from gradtool.engine.ops.registry import get_by_type

GOLDEN = Path(__file__).parent / "golden"
SHOWN = ("matmul_v2", "concat")
"""One operator of tensors, and one that takes a list and gives gradients for it."""


@pytest.fixture(autouse=True)
def dynamic() -> Iterator[None]:
    paddle.disable_static()
    yield
    paddle.enable_static()


def text(op_type: str) -> str:
    """Both functions of an operator."""
    recipe = recipes[get_by_type(op_type)]
    pull = compile_pull(recipe)
    assert pull is not None
    return "\n\n".join(map(generated_code.text_of, (recipe.written, pull)))


@pytest.mark.parametrize("op_type", SHOWN)
def test_the_text_of_an_operator(op_type: str) -> None:
    assert text(op_type) == (GOLDEN / f"{op_type}.txt").read_text(encoding="utf-8")


def shown(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def test_a_traceback_shows_the_text_of_a_gradient() -> None:
    x = paddle.to_tensor(np.ones((2, 2), "float32"), stop_gradient=False)
    y = paddle.matmul(x, x)

    def fails(*_: Any) -> None:
        raise ArithmeticError("a kernel that fails")

    gradients = y.node.call.gradients
    before = dict(gradients)
    gradients[3] = fails
    try:
        with pytest.raises(ArithmeticError) as raised:
            y.sum().backward()
    finally:
        gradients.clear()
        gradients.update(before)
    lines = shown(raised.value)
    assert 'File "<gradtool: gradient of matmul_v2>", line ' in lines
    assert "    return node.call.gradients[(w0 is not None) + (w1 is not None) * 2](" in lines


def test_a_traceback_shows_what_a_function_remembered() -> None:
    x = paddle.to_tensor(np.ones((2, 3), "float32"))
    weights, bias = paddle.ones([3, 2]), paddle.ones([2])
    paddle.nn.functional.linear(x, weights, bias)
    text = "".join(linecache.getlines("<gradtool: linear, remembered>"))
    assert text == (
        "def plan(call0, x0, x1, x2):\n"
        "    r0 = record0(call0, x0, x1)\n"
        "    r1 = record1(call1, r0, x2)\n"
        "    return r1\n"
    )


def test_texts_of_one_title_keep_apart() -> None:
    one, other, again = (
        generated_code.compile_function("f", "a title of tests", ["def f():", f"    return {n}"], {}) for n in (1, 2, 1)
    )
    assert [one(), other(), again()] == [1, 2, 1]
    assert one.__code__ is again.__code__
    assert other.__code__.co_filename == "<gradtool: a title of tests (2)>"
    assert generated_code.text_of(other) == "def f():\n    return 2\n"


if __name__ == "__main__":
    for name in SHOWN:
        (GOLDEN / f"{name}.txt").write_text(text(name), encoding="utf-8")
