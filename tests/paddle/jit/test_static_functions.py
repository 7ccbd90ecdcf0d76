"""What ``to_static`` makes of functions, methods and layers: calls as ever, and programs that are kept."""

from __future__ import annotations

import copy
import gc
import weakref
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle import nn
from gradtool.paddle.jit._static_function import SeveralProgramsWarning, StaticFunction
from gradtool.paddle.static import InputSpec

pytestmark = pytest.mark.usefixtures("dynamic")


class Scaled(nn.Layer):
    """A layer with a marked method and a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.drop = nn.Dropout(0.5)
        self.register_buffer("steps", paddle.zeros([1]))
        self.calls = 0

    def forward(self, x: Any, scale: float = 1.0) -> Any:
        self.calls += 1
        self.steps = self.steps + 1
        return self.drop(self.linear(x)) * scale

    @paddle.jit.to_static(input_spec=[InputSpec([None, 3], "float32", "z")])
    def infer(self, z: Any) -> Any:
        """The linear part."""
        return self.linear(z)


def types_of(program: Any) -> list[str]:
    return [op.type for op in program.global_block().ops]


def test_programs_are_kept_by_what_a_call_depends_on() -> None:
    layer = Scaled()
    assert paddle.jit.to_static(layer) is layer
    forward = layer.forward
    with pytest.raises(ValueError, match="No valid transformed program for function"):
        _ = forward.concrete_program
    for shape in ((2, 3), (2, 3), (4, 3)):
        layer(paddle.ones(shape))
    assert (len(forward.program_cache), forward.get_traced_count()) == (2, 0)
    with pytest.warns(SeveralProgramsWarning, match="2 kinds of arguments"):
        program = forward.main_program
    assert program.global_block().vars["x"].shape == (4, 3)
    layer(paddle.ones([2, 3]), scale=3.0)
    layer.eval()
    layer(paddle.ones([2, 3]), scale=3.0)
    assert len(forward.program_cache) == 4
    assert layer.calls == 5
    assert [s.shape for s in forward.last_call_input_spec] == [(2, 3)]
    with pytest.warns(SeveralProgramsWarning):
        assert forward.concrete_program.inputs[1] == 3.0
    assert forward.get_traced_count() == 2


def test_a_program_is_made_without_a_trace_in_the_layer() -> None:
    layer = Scaled()
    parameters, buffers = dict(layer.named_parameters()), dict(layer.named_buffers())
    concrete = paddle.jit.to_static(layer, input_spec=[InputSpec([None, 3])]).forward.concrete_program
    assert layer.calls == 0
    assert all(p is parameters[n] for n, p in layer.named_parameters())
    assert all(b is buffers[n] for n, b in layer.named_buffers())
    assert not layer.linear._forward_pre_hooks
    assert [p.name for p in concrete.parameters] == sorted(v.name for v in (*parameters.values(), *buffers.values()))
    # The buffer is written as the function writes it.
    assert types_of(concrete.main_program)[-1] == "assign"
    assert concrete.main_program.all_parameters()[0].layer_path == "linear.weight"
    lines = {op.loc[0][0].co_filename for op in concrete.main_program.global_block().ops}
    assert lines == {__file__}


def test_a_program_follows_modes_and_values(tmp_path: Any) -> None:
    layer = paddle.jit.to_static(Scaled(), input_spec=[InputSpec([2, 3], "float32", "x")])
    first = layer.forward.concrete_program
    assert layer.forward.concrete_program is first
    layer.drop.eval()
    second = layer.forward.concrete_program
    assert second is not first
    (drop,) = (op for op in second.main_program.global_block().ops if op.type == "dropout")
    assert drop.attrs["is_test"] is True
    layer.linear.weight.set_value(np.ones([3, 2], "float32"))
    program, outputs = layer.forward.main_program, layer.forward.outputs
    paddle.enable_static()
    (result,) = paddle.static.Executor().run(program, {"x": np.ones([2, 3], "float32")}, outputs)
    paddle.disable_static()
    assert result.tolist() == [[3.0, 3.0]] * 2


def test_training_is_as_without_the_mark() -> None:
    def trained(mark: bool) -> list[Any]:
        paddle.seed(3)
        layer = Scaled()
        if mark:
            paddle.jit.to_static(layer)
        optimizer = paddle.optimizer.Adam(0.1, parameters=layer.parameters())
        for _ in range(3):
            layer(paddle.ones([2, 3])).mean().backward()
            optimizer.step()
            optimizer.clear_grad()
        return [p.numpy() for p in (*layer.parameters(), *layer.buffers())]

    for a, b in zip(trained(True), trained(False), strict=True):
        np.testing.assert_array_equal(a, b)


def test_methods_know_their_own_objects() -> None:
    first, second = Scaled(), Scaled()
    assert first.infer(paddle.ones([1, 3])).shape == [1, 2]
    assert first.infer.__doc__ == "The linear part."
    assert first.infer.concrete_program is first.infer.concrete_program
    assert first.infer.concrete_program is not second.infer.concrete_program
    assert first.infer.class_instance is first
    gone = weakref.ref(first)
    del first
    gc.collect()
    assert gone() is None or gone().infer is not None  # type: ignore[union-attr]
    twin = copy.deepcopy(paddle.jit.to_static(second))
    assert twin.forward.class_instance is twin
    assert twin(paddle.ones([1, 3])).shape == [1, 2]
    assert (twin.calls, second.calls) == (1, 0)


def test_a_mark_is_taken_back() -> None:
    layer = paddle.jit.to_static(Scaled())
    assert isinstance(layer.forward, StaticFunction)
    layer.forward.eval()
    assert not layer.drop.training
    layer.forward.train()
    plain = layer.forward.rollback()
    assert plain.__func__ is Scaled.forward
    assert not isinstance(layer.forward, StaticFunction)

    @paddle.jit.to_static
    def f(x: Any) -> Any:
        return x + 1

    assert f.rollback()(1) == 2
    with pytest.raises(ValueError, match="none"):
        f.eval()
    paddle.jit.enable_to_static(False)
    try:
        f(paddle.ones([1]))
        assert not f.program_cache
    finally:
        paddle.jit.enable_to_static(True)
    paddle.jit.set_code_level(100)
    paddle.jit.set_verbosity(1, True)


def test_no_gradients_in_test_mode_of_a_full_graph() -> None:
    """As in Paddle, where a program without a backward part runs then."""
    for whole in (False, True):
        layer = paddle.jit.to_static(nn.Linear(3, 2), full_graph=whole)
        layer.eval()
        out = layer(paddle.ones([1, 3]))
        assert out.stop_gradient is whole
        layer.train()
        assert not layer(paddle.ones([1, 3])).stop_gradient


def test_functions_that_stay_as_they_are() -> None:
    @paddle.jit.not_to_static
    def inner(x: Any) -> Any:
        return x * 2 if x.ndim else x

    def outer(x: Any) -> Any:
        return inner(x)

    marked = paddle.jit.to_static(outer, input_spec=[InputSpec([2])])
    assert types_of(marked.main_program) == ["scale"]
    assert "callee" in marked.code
    assert paddle.jit.to_static(len) is len
    assert paddle.jit.to_static(nn.Linear) is nn.Linear


def test_functions_in_place_write_their_tensor() -> None:
    def f(x: Any) -> Any:
        y = x * 2
        nn.functional.relu_(y)
        y.zero_() if y.ndim > 1 else y.scale_(3.0)
        return y

    marked = paddle.jit.to_static(f, input_spec=[InputSpec([3], "float32", "x")])
    x = np.array([-1.0, 0.0, 2.0], "float32")
    paddle.enable_static()
    (result,) = paddle.static.Executor().run(marked.main_program, {"x": x}, marked.outputs)
    paddle.disable_static()
    assert result.tolist() == f(paddle.to_tensor(x)).tolist() == [0.0, 0.0, 12.0]


def test_a_program_joins_the_one_being_built() -> None:
    @paddle.jit.to_static
    def f(x: Any) -> Any:
        if x.sum() > 0:
            x = x * 2
        return x

    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program()):
            x = paddle.static.data("x", [2])
            out = f(x)
            for value in (1.0, -1.0):
                (result,) = paddle.static.Executor().run(feed={"x": np.full(2, value, "float32")}, fetch_list=[out])
                assert result.tolist() == [value * (2 if value > 0 else 1)] * 2
    finally:
        paddle.disable_static()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: paddle.jit.to_static(3), TypeError, "a function or a Layer"),
        (lambda: paddle.jit.to_static(abs, input_spec=3), TypeError, "should be one of"),
        (lambda: paddle.jit.to_static(abs, backend="x"), ValueError, "Unknown backend x"),
        (lambda: paddle.jit.to_static(abs, build_strategy=3), TypeError, "BuildStrategy"),
        (lambda: paddle.jit.enable_to_static(3), TypeError, "takes a bool"),
        (lambda: paddle.jit.ignore_module(3), TypeError, "list of modules"),
        (lambda: paddle.jit.ignore_module([3]), TypeError, "there is a int"),
        (lambda: paddle.jit.set_code_level("x"), TypeError, "whole number"),
        (lambda: paddle.jit.json_to_pdmodel(None, None, "a", "b"), ValueError, "jit.save"),
    ],
)
def test_wrong_arguments(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_specs_that_do_not_fit() -> None:
    f = paddle.jit.to_static(lambda x: x + 1, input_spec=[InputSpec([2]), InputSpec([2])])
    with pytest.raises(ValueError, match="too many positional arguments"):
        _ = f.concrete_program
    g = paddle.jit.to_static(lambda x, y: x + y, input_spec=[InputSpec([2])])
    with pytest.raises(ValueError, match="missing a required argument: 'y'"):
        _ = g.concrete_program
