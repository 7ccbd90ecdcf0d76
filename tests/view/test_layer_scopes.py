"""Operators that read no parameter belong to the layer in whose forward they stand."""

from __future__ import annotations

from typing import Any

import pytest

from gradtool import paddle
from gradtool.engine.core.source import Location
from gradtool.engine.view import from_program, from_tape
from gradtool.engine.view.graph import FORWARD, OP, GraphView
from gradtool.engine.view.scopes import fill_layers, parent_layer

F = paddle.nn.functional


class Part(paddle.nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.first = paddle.nn.Linear(2, 2)
        self.rest = paddle.nn.Sequential(paddle.nn.Linear(2, 2), paddle.nn.Tanh())

    def forward(self, x: Any) -> Any:
        h = paddle.exp(x)
        h = self.rest(F.relu(self.first(h)))
        a, b = (paddle.square(t) for t in (h, x))
        return F.sigmoid(a + b)


class Model(paddle.nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.parts = paddle.nn.LayerList([Part() for _ in range(3)])
        self.head = paddle.nn.Linear(2, 1)

    def forward(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return paddle.mean(self.head(paddle.abs(x)))


def eager() -> GraphView:
    paddle.disable_static()
    model = Model()
    return from_tape.view([model(paddle.ones([3, 2]))])


def static() -> GraphView:
    loss = Model()(paddle.static.data("x", [3, 2]))
    paddle.static.append_backward(loss)
    return from_program.view(loss.block.program, loss=loss)


@pytest.mark.parametrize("model", [eager, static])
def test_what_stands_between_layers_belongs_to_the_layer_around_them(model: Any) -> None:
    view = model()
    ops = [n for n in view.nodes if n.kind == OP and n.part == FORWARD]
    scopes = {n.name: n.scope for n in ops}
    # The first call of all precedes every parameter, and the tape begins with the first parameter.
    for i in range(3):
        part = f"parts.{i}"
        for name in ("relu", "sigmoid"):
            assert scopes[f"{name}.{i}"] == part
        assert scopes[f"tanh.{i}"] == part
        sums = [n for n in ops if n.type == "elementwise_add" and n.scope == part]
        assert len(sums) == 1
    squares = [n.scope for n in ops if n.type == "square"]
    assert squares == (
        ["parts.0", "parts.1", "parts.1", "parts.2", "parts.2"]
        if model is eager
        else ["parts.0", "parts.0", "parts.1", "parts.1", "parts.2", "parts.2"]
    )
    exps = [n.scope for n in ops if n.type == "exp"]
    assert exps == (["parts.1", "parts.2"] if model is eager else ["parts.0", "parts.1", "parts.2"])
    assert scopes["abs.0"] == scopes["reduce_mean.0"] == ""
    gradients = {n.pair: n.scope for n in view.nodes if n.kind == OP and n.type.endswith("_grad")}
    for n in ops:
        if n.id in gradients:
            assert gradients[n.id] == n.scope


def test_functions_that_begin_anew_belong_to_what_comes_next() -> None:
    def code() -> None: ...

    def at(line: int) -> Location:
        return ((code.__code__, line),)

    calls = [("", at(1)), ("a.0.x", at(2)), ("", at(3)), ("", at(1)), ("a.1.x", at(2)), ("", at(2)), ("", ())]
    assert fill_layers(calls) == ["a.0", "a.0.x", "a.0", "a.1", "a.1.x", "a.1", ""]
    assert fill_layers([("", at(1)), ("", ())]) == ["", ""]
    assert fill_layers([]) == []


def test_a_layer_that_holds_others_reads_its_own_parameter_in_its_own_forward() -> None:
    def code() -> None: ...

    def at(line: int) -> Location:
        return ((code.__code__, line),)

    calls = [("a.0.attn.qkv", at(1)), ("a.0.attn", at(2)), ("", at(3)), ("a.1.norm", at(1)), ("", at(2))]
    assert fill_layers(calls) == ["a.0.attn.qkv", "a.0.attn", "a.0.attn", "a.1.norm", "a.1"]


@pytest.mark.parametrize(
    ("layer", "outer"), [("a", ""), ("a.b", "a"), ("a.0", ""), ("a.0.b", "a.0"), ("a.0.b.1", "a.0"), ("0.1", "")]
)
def test_the_layer_around_a_layer(layer: str, outer: str) -> None:
    assert parent_layer(layer) == outer
