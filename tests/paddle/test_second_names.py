"""Functions take the second names of arguments that Paddle's take, and no others."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator

import pytest

from gradtool import paddle
from gradtool.paddle import _second_names

from .record_second_names import TARGET, made, same

RECORDED = json.loads(TARGET.read_text(encoding="utf-8"))
BY_FUNCTION = defaultdict(list)
for _row in RECORDED:
    BY_FUNCTION[_row.split()[0]].append(_row)


@pytest.fixture
def dynamic() -> Iterator[None]:
    paddle.disable_static()
    yield
    paddle.enable_static()


def test_the_table_is_what_paddle_takes() -> None:
    table = {
        (f"{package.removeprefix('gradtool.')}.{name}".replace("paddle.nn.functional.", "F."), first, second)
        for package, second, first, names in _second_names.ROWS
        for name in names.split()
    }
    assert table == {tuple(row.split()) for row in RECORDED}


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("function", BY_FUNCTION)
def test_a_second_name_is_the_first(function: str) -> None:
    for row in BY_FUNCTION[function]:
        _, first, second = row.split()
        call, table = RECORDED[row]
        by_second = call.replace(f"({first}=", f"({second}=", 1).replace(f", {first}=", f", {second}=", 1)
        assert by_second != call
        assert same(made(paddle, by_second, table), made(paddle, call, table)), by_second


@pytest.mark.usefixtures("dynamic")
def test_methods_and_old_modules_take_them_too() -> None:
    x = paddle.ones([2, 3])
    assert x.sum(dim=0).tolist() == [2.0, 2.0, 2.0]
    assert x.add(other=x).tolist() == (x + x).tolist()
    assert paddle.tensor.sum is paddle.sum
    assert paddle.linalg.matmul is paddle.matmul
    assert paddle.nn.functional.activation.softmax is paddle.nn.functional.softmax


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("kind", [TypeError, ValueError])
@pytest.mark.parametrize(
    "call", ["paddle.sum(x, axis=0, dim=0)", "paddle.sum(x, 0, dim=0)", "paddle.add(x, x, other=x)"]
)
def test_an_argument_under_both_names(call: str, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=r"Cannot specify both '(axis|y)' and its alias '(dim|other)'"):
        eval(call, {"paddle": paddle, "x": paddle.ones([2, 3])})


@pytest.mark.usefixtures("dynamic")
def test_names_that_paddle_does_not_take() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'dim'"):
        paddle.max(paddle.ones([2, 3]), dim=0)


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize(
    "call",
    [
        "paddle.tanh(x)",
        "paddle.tanh(input=x)",
        "paddle.add(x, x)",
        "paddle.add(x, y=x)",
        "paddle.add(input=x, y=x)",
        "paddle.add(y=x, input=x)",
        "paddle.sum(x, 0)",
        "paddle.sum(input=x, dim=0)",
    ],
)
def test_the_line_of_a_call_is_the_users(call: str) -> None:
    x = paddle.ones([2, 3])
    x.stop_gradient = False
    for _ in range(3):  # as it runs at first, and as it is remembered
        result = eval(compile(f"\n\n{call}", "model.py", "eval"), {"paddle": paddle, "x": x, "__name__": "model"})
        assert result.grad_fn.made_at.startswith("model.py:3 ")


@pytest.mark.usefixtures("dynamic")
def test_what_is_missing_is_told_by_its_first_name() -> None:
    with pytest.raises(TypeError, match=r"tanh\(\) missing 1 required positional argument: 'x'"):
        paddle.tanh()
    with pytest.raises(TypeError, match=r"add\(\) missing 1 required positional argument: 'x'"):
        paddle.add(other=paddle.ones([1]))
