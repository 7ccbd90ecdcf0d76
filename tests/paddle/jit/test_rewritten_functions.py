"""Rewritten functions do what the functions do: of numbers, and of tensors in a program."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle.jit.conversion.calls import converted
from gradtool.paddle.static import InputSpec

from .random_functions import function

CALLS = [(2, 5, -1), (0, 0, 3), (8, -4, 7), (-3, 1, 4)]


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("seed", range(24))
def test_a_rewritten_function_does_the_same(seed: int) -> None:
    f = function(seed)
    rewritten = converted(f)
    assert rewritten is not f
    wanted = [f(*call) for call in CALLS]
    assert [rewritten(*call) for call in CALLS] == wanted
    marked = paddle.jit.to_static(f, input_spec=[InputSpec([], "int64", name) for name in "abx"])
    concrete = marked.concrete_program
    for call, result in zip(CALLS, wanted, strict=True):
        feed = {v.name: np.array(n, "int64") for v, n in zip(concrete.feeds, call, strict=True)}
        paddle.enable_static()
        fetched = paddle.static.Executor().run(concrete.main_program, feed, concrete.outputs)
        paddle.disable_static()
        assert [int(v) for v in fetched] == [result]


class Private:
    """A class whose names are its own."""

    __step = 2

    def method(self, x: int, *more: int, by: int = 3, **named: int) -> int:
        if x > 0:
            x += self.__step
        return x * by + sum(more) + named.get("z", 0)


def test_names_closures_and_defaults_stay() -> None:
    rewritten = converted(Private().method)
    assert rewritten(1, 5, by=2, z=1) == Private().method(1, 5, by=2, z=1) == 12
    assert rewritten(-1) == -3
    count = 0

    def counted(n: int, start: list[int] = []) -> int:  # noqa: B006
        nonlocal count
        for _ in range(n):
            count += 1
            start.append(count)
        return counted(n - 1) if n else len(start)

    assert converted(counted)(3) == 6
    assert count == 6
    pair = (lambda a: a + 1, lambda b: b * 2 if b else 5)
    assert [converted(p)(0) for p in pair] == [1, 5]


def test_lines_and_names_of_errors_are_the_users() -> None:
    def fails(x: int) -> int:
        if x:
            while x < 3:
                x += 1
                raise KeyError(x)
        return x

    with pytest.raises(KeyError) as error:
        converted(fails)(1)
    first = fails.__code__.co_firstlineno
    frames = [(e.frame.code.name, e.lineno + 1) for e in error.traceback if str(e.path) == __file__]
    assert [(name, line - first) for name, line in frames[1:]] == [("fails", 1), ("fails", 2), ("fails", 4)]
