"""``paddle.jit.load`` and ``TranslatedLayer``: what ``jit.save`` wrote, as a layer again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine.core import state
from gradtool.engine.core.errors import ArgumentTypeError, ShapeError, UnsupportedError, UsageError
from gradtool.engine.eager.mode import no_grad
from gradtool.engine.eager.parameter import TensorParameter
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.variable import Parameter, Variable
from gradtool.paddle._saving import refuse_options
from gradtool.paddle.nn.layer import Layer
from gradtool.paddle.static._input_spec import InputSpec

from ._files import FORWARD, Method, prefix_of, read
from ._replaying import ProgramReplay


class TranslatedLayer(Layer):
    """A layer that computes what was saved: programs, and parameters that can be trained on.

    It begins in test mode, in which no gradients are computed; ``train()`` lets them flow. The programs are in test
    form in both. :func:`load` makes it.

    Example:
        >>> import tempfile
        >>> from gradtool import paddle
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     spec = [paddle.static.InputSpec([None, 3], "float32", "x")]
        ...     paddle.jit.save(paddle.nn.Linear(3, 2), f"{folder}/linear", input_spec=spec)
        ...     layer = paddle.jit.load(f"{folder}/linear")
        >>> [(name, list(p.shape)) for name, p in layer.named_parameters()]
        [('param_0', [2]), ('param_1', [3, 2])]
        >>> layer.train()(paddle.ones([1, 3])).sum().backward()
        >>> list(layer.param_0.grad.shape)
        [2]
    """

    def __init__(self, methods: dict[str, Method]) -> None:
        super().__init__()
        self.__dict__["_methods"] = methods
        held = _tensors(methods)
        for i, name in enumerate(sorted(held)):
            self._keep(f"param_{i}", held[name])
        self.__dict__["_replays"] = {
            name: ProgramReplay(method.program, {n: held[n] for n in method.values}) for name, method in methods.items()
        }
        self.__dict__["_held"] = held
        for name in methods:
            if name != FORWARD:
                self.__dict__[name] = _caller(self, name)
        self.training = False

    def _keep(self, name: str, tensor: Tensor) -> None:
        if isinstance(tensor, TensorParameter):
            self.add_parameter(name, tensor)
        else:
            self.register_buffer(name, tensor)

    def forward(self, *inputs: Any) -> Any:
        """Run the saved ``forward`` and return its tensors in order: one, or a list.

        Raises:
            UsageError: too few or too many inputs, or there is no ``forward`` (a ValueError).
            ShapeError: an input of another shape than was saved (a ValueError).
        """
        return self._called(FORWARD, inputs)

    def _called(self, name: str, inputs: tuple[Any, ...]) -> Any:
        method = self._method(name)
        if state.in_static_mode():
            raise UnsupportedError(
                "a layer that jit.load gave computes in dynamic mode alone.",
                hint="paddle.static.load_inference_model gives its program",
            )
        if len(inputs) != len(method.feeds):
            names = ", ".join(v.name for v in method.feeds)
            raise UsageError(f"{name} takes {len(method.feeds)} tensors ({names}), but received {len(inputs)}.")
        fed = {v.name: _input(v, value) for v, value in zip(method.feeds, inputs, strict=True)}
        replay: ProgramReplay = self.__dict__["_replays"][name]
        if self.training:
            results = replay(fed, method.fetches)
        else:
            with no_grad():
                results = replay(fed, method.fetches)
        return results[0] if len(results) == 1 else results

    def _method(self, name: str) -> Method:
        methods: dict[str, Method] = self.__dict__["_methods"]
        if name not in methods:
            raise UsageError(
                f"The method `{name}` does not exist in loaded TranslatedLayer.", hint=f"it has: {', '.join(methods)}"
            )
        return methods[name]

    def program(self, method_name: str = FORWARD) -> Program:
        """The program of a method.

        Raises:
            UsageError: there is no such method (a ValueError).
        """
        return self._method(method_name).program

    def _input_spec(self, method_name: str = FORWARD) -> list[InputSpec]:
        """Return descriptions of the tensors that a method takes."""
        return [_spec(v) for v in self._method(method_name).feeds]

    def _output_spec(self, method_name: str = FORWARD) -> list[InputSpec]:
        """Return descriptions of the tensors that a method returns."""
        return [_spec(v) for v in self._method(method_name).fetches]

    def methods(self) -> dict[str, Method]:
        """Return the methods by name, with the values that the layer has now."""
        held: dict[str, Tensor] = self.__dict__["_held"]
        methods: dict[str, Method] = self.__dict__["_methods"]
        return {n: m._replace(values={v: held[v] for v in m.values}) for n, m in methods.items()}


def _caller(layer: TranslatedLayer, name: str) -> Callable[..., Any]:
    def call(*inputs: Any) -> Any:
        return layer._called(name, inputs)

    call.__name__ = call.__qualname__ = name
    return call


def _tensors(methods: dict[str, Method]) -> dict[str, Tensor]:
    """The tensors of all persistable variables, by name; methods share them."""
    held: dict[str, Tensor] = {}
    for method in methods.values():
        block = method.program.global_block()
        for name, value in method.values.items():
            if name not in held:
                held[name] = _tensor(block.vars[name], np.array(value))
    return held


def _tensor(v: Variable, value: Any) -> Tensor:
    if not isinstance(v, Parameter):
        return Tensor(value, name=v.name, persistable=True)
    parameter = TensorParameter(value, v.name, trainable=v.trainable)
    for setting in ("optimize_attr", "regularizer", "need_clip", "do_model_average"):
        setattr(parameter, setting, getattr(v, setting))
    return parameter


def _input(v: Variable, value: Any) -> Tensor:
    """*value* as the tensor that *v* is fed with."""
    tensor = value if isinstance(value, Tensor) else None
    if isinstance(value, (np.ndarray, np.generic)):
        tensor = Tensor(np.asarray(value))
    if tensor is None:
        raise ArgumentTypeError(f"'{v.name}' must be a Tensor or an array, but received {type(value).__name__}.")
    shape = tuple(tensor.array.shape)
    if len(shape) != v.ndim or any(d not in (-1, n) for d, n in zip(v.shape, shape, strict=True)):
        raise ShapeError(f"'{v.name}' was saved with the shape {list(v.shape)}, but received {list(shape)}.")
    if tensor.dtype is not v.dtype:
        raise ArgumentTypeError(
            f"'{v.name}' was saved as {v.dtype.name}, but received {tensor.dtype.name}.",
            hint=f"cast it: x.astype({v.dtype.name!r})",
        )
    return tensor


def _spec(v: Variable) -> InputSpec:
    return InputSpec(list(v.shape), v.dtype, v.name, v.stop_gradient)


def load(path: str, **configs: Any) -> TranslatedLayer:
    """Load what :func:`gradtool.paddle.jit.save` wrote, as a layer.

    Args:
        path: as ``save`` took it.
        configs: ``model_filename`` and ``params_filename`` of Paddle's old format are not taken.

    Raises:
        FileMissing: there are no such files (a FileNotFoundError and a ValueError).
        FileFormatError: a file is damaged, something else, or a program of Paddle itself (a ValueError).
    """
    refuse_options("paddle.jit.load", configs)
    return TranslatedLayer(read(prefix_of(path, "paddle.jit.load")))
