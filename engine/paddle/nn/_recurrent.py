"""Cells of recurrent networks: one step in time, from an input and a state to the next state."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from gradtool import paddle
from gradtool.engine.core import state
from gradtool.engine.core.errors import ShapeError, UsageError
from gradtool.paddle._arguments import tensor

from . import functional as F
from . import initializer
from .layer import Layer


class RNNCellBase(Layer):
    """Base of the cells: their weights, and states to start with.

    The weights are ``weight_ih`` ``[gates · hidden, input]`` and ``weight_hh`` ``[gates · hidden, state]``, the biases
    ``bias_ih`` and ``bias_hh`` ``[gates · hidden]``, all drawn evenly within ``±1 / sqrt(hidden)``. An attribute that
    is False makes a constant that is not trained: ones for a weight, zeros for a bias.
    """

    gates: ClassVar[int] = 1

    def _make(self, input_size: int, hidden_size: int, state_size: int, attrs: tuple[Any, ...]) -> None:
        if hidden_size <= 0:
            raise UsageError(
                f"hidden_size of {type(self).__name__} must be greater than 0, but now equals to {hidden_size}"
            )
        self.input_size, self.hidden_size = input_size, hidden_size
        rows = self.gates * hidden_size
        shapes = {
            "weight_ih": [rows, input_size],
            "weight_hh": [rows, state_size],
            "bias_ih": [rows],
            "bias_hh": [rows],
        }
        for (name, shape), attr in zip(shapes.items(), attrs, strict=True):
            setattr(self, name, self._weight(shape, attr, is_bias=len(shape) == 1))

    def _weight(self, shape: list[int], attr: Any, *, is_bias: bool = False) -> Any:
        limit = 1.0 / math.sqrt(self.hidden_size)
        if attr is not False:
            start: Any = initializer.Uniform(-limit, limit)
            return self.create_parameter(shape, attr, is_bias=is_bias, default_initializer=start)
        fixed: Any = self.create_parameter(
            shape, None, is_bias=is_bias, default_initializer=initializer.Constant(0.0 if is_bias else 1.0)
        )
        fixed.stop_gradient = True
        return fixed

    @property
    def state_shape(self) -> Any:
        """The shape of a state, without the batch: a tuple of numbers, or one tuple per part of the state."""
        return (self.hidden_size,)

    def get_initial_states(
        self, batch_ref: Any, shape: Any = None, dtype: Any = None, init_value: float = 0.0, batch_dim_idx: int = 0
    ) -> Any:
        """A state full of *init_value* for the batch of *batch_ref*.

        Args:
            batch_ref: a variable whose dimension *batch_dim_idx* is the batch.
            shape: of the state without the batch, in the form of :attr:`state_shape`, which it is by default.
            dtype: of the state; by default what the cell has as ``state_dtype``, or else the default type.
        """
        batch_ref = tensor(batch_ref, "batch_ref", f"{type(self).__name__}.get_initial_states")
        shapes = self.state_shape if shape is None else shape
        several = bool(shapes) and isinstance(shapes[0], (list, tuple))
        dim = batch_ref.shape[batch_dim_idx]
        batches = [
            dim if dim != -1 else paddle.shape(batch_ref)[batch_dim_idx] for _ in (shapes if several else [shapes])
        ]
        kinds = getattr(self, "state_dtype", state.default_dtype()) if dtype is None else dtype
        if not isinstance(kinds, (list, tuple)):
            kinds = [kinds] * len(batches)
        states = [
            paddle.full([batch, *sizes], init_value, kind)
            for batch, sizes, kind in zip(batches, shapes if several else [shapes], kinds, strict=True)
        ]
        return tuple(states) if several else states[0]

    def _checked(self, inputs: Any) -> Any:
        where = type(self).__name__
        inputs = tensor(inputs, "inputs", where)
        if inputs.ndim != 2 or inputs.shape[1] not in (-1, self.input_size):
            raise ShapeError(
                f"{where}: inputs '{inputs.name}' must have the shape [batch, {self.input_size}], but it is "
                f"{list(inputs.shape)}.",
                hint="a cell takes one step in time; give it the steps of a sequence one after another",
            )
        return inputs

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}"


class SimpleRNNCell(RNNCellBase):
    """``h' = act(W_ih·x + b_ih + W_hh·h + b_hh)`` (Elman 1990).

    Called with ``inputs`` ``[batch, input_size]`` and a state ``[batch, hidden_size]`` (zeros by default), it returns
    the new state twice: as the output and as the state.

    Args:
        activation: ``tanh`` or ``relu``.
        weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr: how the parameters are made; with False they are
            constants.

    Raises:
        UsageError: a size or an activation that cannot be (a ValueError).
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        activation: str = "tanh",
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        attrs = weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr
        self._make(input_size, hidden_size, hidden_size, attrs)
        if activation not in ("tanh", "relu"):
            raise UsageError(f"activation for SimpleRNNCell should be tanh or relu, but get {activation}")
        self.activation, self._activation_fn = activation, getattr(F, activation)

    def forward(self, inputs: Any, states: Any = None) -> Any:
        inputs = self._checked(inputs)
        before = self.get_initial_states(inputs) if states is None else states
        from_input = paddle.matmul(inputs, self.weight_ih, transpose_y=True) + self.bias_ih
        from_state = paddle.matmul(before, self.weight_hh, transpose_y=True) + self.bias_hh
        after = self._activation_fn(from_input + from_state)
        return after, after

    def extra_repr(self) -> str:
        return super().extra_repr() + (f", activation={self.activation}" if self.activation != "tanh" else "")


class LSTMCell(RNNCellBase):
    """A cell with a long-term part of its state, which gates write, keep and read (Hochreiter and Schmidhuber 1997).

    With the rows of the weights in the order input gate, forget gate, candidate, output gate::

        i, f, o = sigmoid(…)    g = tanh(…)    c' = f·c + i·g    h' = o·tanh(c')

    Called with ``inputs`` ``[batch, input_size]`` and the states ``(h, c)`` (zeros by default), it returns ``h'`` and
    ``(h', c')``. The output gate is the last quarter, the candidate the third.

    Args:
        weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr: how the parameters are made; with False they are
            constants.
        proj_size: when greater than 0, ``h'`` is projected to that size by ``weight_ho`` ``[hidden_size, proj_size]``.

    Raises:
        UsageError: a size that cannot be (a ValueError).

    >>> from gradtool import paddle
    >>> paddle.enable_static()
    >>> x = paddle.static.data("x", [None, 4])
    >>> y, (h, c) = paddle.nn.LSTMCell(4, 3)(x)
    >>> list(h.shape), list(c.shape)
    ([-1, 3], [-1, 3])
    """

    gates = 4

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        proj_size: int = 0,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        if proj_size < 0:
            raise UsageError(f"proj_size of LSTMCell must not be negative, but is {proj_size}")
        if proj_size and proj_size >= hidden_size > 0:
            raise UsageError("proj_size must be smaller than hidden_size")
        attrs = weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr
        self._make(input_size, hidden_size, proj_size or hidden_size, attrs)
        self.proj_size = proj_size
        self._gate_activation, self._activation = F.sigmoid, F.tanh
        if proj_size:
            self.weight_ho = self._weight([hidden_size, proj_size], weight_hh_attr)

    @property
    def state_shape(self) -> Any:
        """The shapes of ``h`` and ``c``, without the batch."""
        return ((self.proj_size or self.hidden_size,), (self.hidden_size,))

    def forward(self, inputs: Any, states: Any = None) -> Any:
        inputs = self._checked(inputs)
        hidden, cell = self.get_initial_states(inputs) if states is None else states
        gates = paddle.matmul(inputs, self.weight_ih, transpose_y=True) + self.bias_ih
        gates = gates + paddle.matmul(hidden, self.weight_hh, transpose_y=True) + self.bias_hh
        chunks = paddle.split(gates, self.gates, axis=-1)
        write, keep, read = (self._gate_activation(chunks[i]) for i in (0, 1, 3))
        cell = keep * cell + write * self._activation(chunks[2])
        hidden = read * self._activation(cell)
        if self.proj_size:
            hidden = paddle.matmul(hidden, self.weight_ho)
        return hidden, (hidden, cell)

    def extra_repr(self) -> str:
        return super().extra_repr() + (f", proj_size={self.proj_size}" if self.proj_size else "")


class GRUCell(RNNCellBase):
    """A cell whose gates say how much of the state is reset and how much is kept (Cho et al. 2014).

    With the rows of the weights in the order reset gate, update gate, candidate::

        r, z = sigmoid(…)    n = tanh(W_ih·x + b_ih + r·(W_hh·h + b_hh))    h' = (h - n)·z + n

    Called with ``inputs`` ``[batch, input_size]`` and a state ``[batch, hidden_size]`` (zeros by default), it returns
    the new state twice: as the output and as the state.

    Args:
        weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr: how the parameters are made; with False they are
            constants.

    Raises:
        UsageError: a size that cannot be (a ValueError).
    """

    gates = 3

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        attrs = weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr
        self._make(input_size, hidden_size, hidden_size, attrs)
        self._gate_activation, self._activation = F.sigmoid, F.tanh

    def forward(self, inputs: Any, states: Any = None) -> Any:
        inputs = self._checked(inputs)
        before = self.get_initial_states(inputs) if states is None else states
        from_input = paddle.matmul(inputs, self.weight_ih, transpose_y=True) + self.bias_ih
        from_state = paddle.matmul(before, self.weight_hh, transpose_y=True) + self.bias_hh
        x_reset, x_update, x_candidate = paddle.split(from_input, self.gates, axis=-1)
        h_reset, h_update, h_candidate = paddle.split(from_state, self.gates, axis=-1)
        reset = self._gate_activation(x_reset + h_reset)
        update = self._gate_activation(x_update + h_update)
        candidate = self._activation(x_candidate + reset * h_candidate)
        after = (before - candidate) * update + candidate
        return after, after
