"""What no program can hold is refused with the line, and calls go on to work."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradtool import paddle
from gradtool.paddle.jit.conversion.refusals import ConversionError
from gradtool.paddle.static import InputSpec

pytestmark = pytest.mark.usefixtures("dynamic")

CASES: dict[str, tuple[Callable[..., Any], str]] = {}
"""By what is said: the function, and what stands in the line that is told."""


def says(text: str, line: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES[text] = function, line
        return function

    return add


@says("'numpy' of a tensor is asked for while its function is traced", ".numpy())")
def _(x: Any) -> Any:
    return x * float(x.sum().numpy())


@says("'h' is a NoneType before it and a tensor in it", "while x.sum() < 10")
def _(x: Any) -> Any:
    h = None
    while x.sum() < 10:
        h = x if h is None else h + x
        x = x + 1
    return h


@says("one way leaves float32 and the other int64", "if x.sum() > 0")
def _(x: Any) -> Any:
    if x.sum() > 0:
        y = x
        y = y + 1
    else:
        y = x.astype("int64")
    return y


@says("only one way of the branch gives it a value", "if x.sum() > 0")
def _(x: Any) -> Any:
    if x.sum() > 0:
        z = x * 2
    return z


@says("and the other None, and a tensor decides", "if x.sum() > 0")
def _(x: Any) -> Any:
    if x.sum() > 0:
        return x
    return None


@says("left from inside of try, match or with", "if x.sum() > 0")
def _(x: Any) -> Any:
    for _ in range(3):
        try:
            if x.sum() > 0:
                break
        finally:
            x = x + 1
    return x


@says("the function returns", "held[0] = x * 2")
def _(x: Any) -> Any:
    held = [x]

    def inner() -> None:
        held[0] = x * 2

    if x.sum() > 0:
        inner()
    return held[0]


@says("the ways leave 2 and 1 elements", "if x.sum() > 0")
def _(x: Any) -> Any:
    out = [x]
    if x.sum() > 0:
        out.append(x)
    return paddle.stack(out)


@says("a set is changed under a condition", "if x.sum() > 0")
def _(x: Any) -> Any:
    seen = {1}
    if x.sum() > 0:
        seen.add(2)
    return x * len(seen)


@says("Python asks for the truth of", "r.sum() > 0")
def _(x: Any) -> Any:
    return sum(r for r in x if r.sum() > 0)


@says("a tensor of shape [2, 3], is asked for", "if x > 0")
def _(x: Any) -> Any:
    if x > 0:
        return x
    return x - 1


@says("a list that grows in a loop that a tensor repeats is read in the loop", "out[-1] + x")
def _(x: Any) -> Any:
    out = [x]
    while x.sum() < 10:
        x = x + 1
        out.append(out[-1] + x)
    return paddle.stack(out)


@says("appended on one way of a branch to a list that grows", "out.append(x)")
def _(x: Any) -> Any:
    out: list[Any] = []
    while x.sum() < 10:
        x = x + 1
        if x.max() > 2:
            out.append(x)
        else:
            out.append(x + 1)
    return paddle.stack(out)


@says("which is not known before", "while x.sum() < 10")
def _(x: Any) -> Any:
    while x.sum() < 10:
        y = paddle.nonzero(x)
        x = x + 1
    return y


@says("changes the shape [2, 3] of a tensor to [1, 2, 3] in place", "unsqueeze_")
def _(x: Any) -> Any:
    x.unsqueeze_(0)
    return x


@says("calls itself without end", "")
def endless(x: Any) -> Any:
    return x if x.sum() > 100 else endless(x * 2)


class Counting:
    """An object whose method a branch calls."""

    steps = 0

    def step(self) -> None:
        self.steps += 1

    def run(self, x: Any) -> Any:
        if x.sum() > 0:
            self.step()
        return x * self.steps


CASES["sets 'steps' of a Counting"] = Counting().run, "if x.sum() > 0"


@pytest.mark.parametrize("text", CASES)
def test_it_is_refused_with_the_line(text: str) -> None:
    function, line = CASES[text]
    marked = paddle.jit.to_static(function, input_spec=[InputSpec([2, 3], "float32", "x")])
    with pytest.raises(ConversionError) as error:
        _ = marked.concrete_program
    assert text in error.value.message
    assert error.value.hint
    if line:
        file, told = error.value.message.split(":")[:2]
        assert file == Path(__file__).name
        assert line in linecache.getline(__file__, int(told))
