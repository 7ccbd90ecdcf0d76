"""Recurrent networks: a cell taken over the steps of sequences, and layers of LSTM, GRU and simple cells."""

from __future__ import annotations

from typing import Any, ClassVar

from gradtool import paddle
from gradtool.engine.core import state
from gradtool.engine.core.errors import ShapeError, UsageError
from gradtool.engine.core.spec import UNKNOWN
from gradtool.engine.core.value import AnyTensor
from gradtool.paddle._arguments import INTEGERS, integer, tensor
from gradtool.paddle._dispatch import apply
from gradtool.paddle._structure import difference, leaves, mapped, packed

from . import functional as F
from ._containers import LayerList
from ._recurrent import GRUCell, LSTMCell, SimpleRNNCell
from .functional._norm import cut
from .layer import Layer


class RNN(Layer):
    """A cell, called for every step of a sequence with the state that the step before gave.

    Called with ``inputs`` ``[batch, steps, …]`` (``[steps, batch, …]`` if *time_major*), it returns the outputs of all
    steps in the same form, and the last state. The cell starts with *initial_states*, or with the zeros of its
    ``get_initial_states``. With *sequence_length* ``[batch]``, states stay as they were at the end of each sequence;
    outputs behind the end are what the cell makes of them.

    Args:
        cell: a layer that takes a step's input and a state (a variable, or nested tuples of them) and returns an
            output and the next state.
        is_reverse: go from the last step to the first.
        time_major: the first dimension is time, not the batch.

    In a program the steps follow each other where their number is known. Where it is not they are a loop, each run of
    which copies the outputs so far; Paddle has a loop over arrays of tensors in both cases.

    Raises:
        ShapeError: inputs without steps (a ValueError).
        UsageError: the cell returns a state of another structure than it was given (a ValueError).

    >>> from gradtool import paddle
    >>> paddle.enable_static()
    >>> x = paddle.static.data("x", [None, 5, 4])
    >>> y, h = paddle.nn.RNN(paddle.nn.GRUCell(4, 3))(x)
    >>> list(y.shape), list(h.shape)
    ([-1, 5, 3], [-1, 3])
    """

    def __init__(self, cell: Any, is_reverse: bool = False, time_major: bool = False) -> None:
        super().__init__()
        self.cell = cell
        self.is_reverse, self.time_major = is_reverse, time_major

    def forward(
        self, inputs: Any, initial_states: Any = None, sequence_length: Any = None, **kwargs: Any
    ) -> tuple[Any, Any]:
        return _over_time(self.cell, inputs, initial_states, sequence_length, self.time_major, self.is_reverse, kwargs)


class BiRNN(Layer):
    """Two cells, one of which takes the steps of a sequence from the first on, the other from the last on.

    It is called like :class:`RNN`, with a pair of initial states, and returns the outputs of both cells side by side
    in the last dimension, and the pair of their last states.

    Args:
        cell_fw, cell_bw: cells for inputs of one size.
        time_major: the first dimension is time, not the batch.

    Raises:
        UsageError: cells for inputs of different sizes (a ValueError).
    """

    def __init__(self, cell_fw: Any, cell_bw: Any, time_major: bool = False) -> None:
        super().__init__()
        self.cell_fw, self.cell_bw = cell_fw, cell_bw
        if cell_fw.input_size != cell_bw.input_size:
            raise UsageError(
                f"input size of forward cell({cell_fw.input_size}) does not equals that of backward "
                f"cell({cell_bw.input_size})"
            )
        self.time_major = time_major

    def forward(
        self, inputs: Any, initial_states: Any = None, sequence_length: Any = None, **kwargs: Any
    ) -> tuple[Any, Any]:
        pair = (None, None) if initial_states is None else initial_states
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise StatePair("initial_states of BiRNN should be a pair: the states of the two cells")
        runs = [
            _over_time(cell, inputs, states, sequence_length, self.time_major, backwards, kwargs)
            for cell, states, backwards in ((self.cell_fw, pair[0], False), (self.cell_bw, pair[1], True))
        ]
        (forward, first), (backward, second) = runs
        sides = zip(leaves(forward), leaves(backward), strict=True)
        return packed(forward, [paddle.concat([a, b], -1) for a, b in sides]), (first, second)


class StatePair(UsageError, AssertionError):
    """States for two cells that are no pair (Paddle raises AssertionError)."""


def _over_time(
    cell: Any, inputs: Any, states: Any, lengths: Any, time_major: bool, backwards: bool, arguments: dict[str, Any]
) -> tuple[Any, Any]:
    """Run *cell* over all steps of *inputs*, and return its last state too."""
    time, where = (0 if time_major else 1), "RNN"
    for v in leaves(inputs):
        if tensor(v, "inputs", where).ndim < 2:
            raise ShapeError(f"{where}: inputs '{v.name}' must have at least 2 dimensions, but is {list(v.shape)}.")
    first = leaves(inputs)[0]
    if states is None:
        states = cell.get_initial_states(batch_ref=inputs, batch_dim_idx=1 - time)
    if lengths is not None:
        lengths = paddle.cast(tensor(lengths, "sequence_length", where, INTEGERS), "int32")
    count = first.shape[time]
    if count == 0:
        raise ShapeError(f"{where}: inputs '{first.name}' has no steps: its shape is {list(first.shape)}.")

    def step(at: Any, index: Any, before: Any) -> tuple[Any, Any]:
        """The cell at one step: its number, and how it is cut out of the inputs."""
        output, after = cell(mapped(lambda v: index(v, time), inputs), before, **arguments)
        why = difference(after, before)
        if why is not None:
            raise UsageError(
                f"{type(cell).__name__}: the next state should have the structure of the state before: there are {why}"
            )
        if lengths is None:
            return output, after
        inside = at < lengths
        pairs = zip(leaves(after), leaves(before), strict=True)
        return output, packed(after, [_where(inside, new, old) for new, old in pairs])

    if count == UNKNOWN:
        return _loop(step, paddle.shape(first)[time], states, time, backwards)
    outputs: list[Any] = [None] * count
    for t in reversed(range(count)) if backwards else range(count):
        at = t if lengths is None else paddle.full([1], t, "int32")
        outputs[t], states = step(at, lambda v, axis, t=t: v[(slice(None),) * axis + (t,)], states)
    columns = zip(*map(leaves, outputs), strict=True)
    return packed(outputs[0], [paddle.stack(list(c), axis=time) for c in columns]), states


def _where(inside: Any, new: Any, old: Any) -> Any:
    """*new* where a sequence goes on, else *old*."""
    return paddle.where(paddle.reshape(inside, [-1] + [1] * (new.ndim - 1)), new, old)


def _loop(step: Any, count: Any, states: Any, time: int, backwards: bool) -> tuple[Any, Any]:
    """The steps as a loop that adds to the outputs; the first one stands before it."""
    one = paddle.full([1], 1, "int32")
    count = paddle.reshape(count, [1])

    def at(i: Any, before: Any) -> tuple[Any, Any]:
        place = count - one - i if backwards else i
        output, after = step(place, lambda v, axis: paddle.squeeze(paddle.gather(v, place, axis), axis), before)
        return mapped(lambda v: paddle.unsqueeze(v, time), output), after

    def body(i: Any, outputs: Any, before: Any) -> list[Any]:
        output, after = at(i, before)
        pairs = zip(leaves(outputs), leaves(output), strict=True)
        joined = [paddle.concat([new, old] if backwards else [old, new], time) for old, new in pairs]
        return [i + one, packed(outputs, joined), after]

    outputs, states = at(one - one, states)
    _, outputs, states = paddle.static.nn.while_loop(
        lambda i, outputs, before: i < count, body, [one + 0, outputs, states]
    )
    return outputs, states


class RNNBase(LayerList):
    """Base of :class:`LSTM`, :class:`GRU` and :class:`SimpleRNN`: layers of cells, computed by one operator.

    Its sublayers ``0``, ``1``, … are an :class:`RNN` for each layer, a :class:`BiRNN` in both directions. Their cells'
    parameters are its own as well, as ``weight_ih_l0``, ``weight_hh_l0``, ``bias_ih_l0``, ``bias_hh_l0`` in the first
    layer, with ``_reverse`` for the backward direction.

    Called with ``inputs`` ``[batch, steps, input_size]`` (``[steps, batch, input_size]`` if *time_major*), it returns
    the outputs of the last layer ``[batch, steps, directions · hidden_size]`` and the final states
    ``[num_layers · directions, batch, hidden_size]``, in which form *initial_states* are taken, too: one variable, or
    for an LSTM the pair ``(h, c)``. With *sequence_length* ``[batch]``, outputs behind the end of a sequence are 0,
    final states are those at its end, and the backward direction starts there.
    """

    parts: ClassVar[int] = 1
    """How many variables a state has."""

    def _make(
        self,
        mode: str,
        cell: Any,
        input_size: int,
        hidden_size: int,
        num_layers: int,
        direction: str,
        time_major: bool,
        dropout: float,
        settings: dict[str, Any],
    ) -> None:
        if direction not in ("forward", "bidirect", "bidirectional"):
            raise UsageError(
                f"direction should be forward or bidirect (or bidirectional), received direction = {direction}"
            )
        where = type(self).__name__
        if integer(num_layers, "num_layers", where) < 1:
            raise UsageError(f"num_layers of {where} must be at least 1, but is {num_layers}")
        if not 0 <= dropout <= 1:
            raise UsageError(f"dropout of {where} must lie between 0 and 1, but is {dropout}")
        self.mode, self.input_size, self.hidden_size = mode, input_size, hidden_size
        self.num_layers, self.num_directions = num_layers, 1 if direction == "forward" else 2
        self.time_major, self.dropout = time_major, dropout
        self.proj_size = settings.get("proj_size", 0)
        self.state_components, self.could_use_cudnn = self.parts, True
        width = input_size
        for _ in range(num_layers):
            first, *second = (cell(width, hidden_size, **settings) for _ in range(self.num_directions))
            layer = BiRNN(first, second[0], time_major) if second else RNN(first, time_major=time_major)
            self.append(layer)
            width = self.num_directions * (self.proj_size or hidden_size)
        for i, one in enumerate(self._cells()):
            ending = f"_l{i // self.num_directions}" + ("_reverse" if i % self.num_directions else "")
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                if not (name.startswith("bias") and settings[f"{name}_attr"] is False):
                    setattr(self, name + ending, getattr(one, name))

    @property
    def _all_weights(self) -> list[Any]:
        """Its own parameters: weights of all layers, then biases."""
        own = self.__dict__["_parameters"]
        return [p for kind in ("weight", "bias") for name, p in own.items() if name.startswith(kind)]

    def _cells(self) -> list[Any]:
        return [cell for layer in self for cell in layer.children()]

    def forward(self, inputs: Any, initial_states: Any = None, sequence_length: Any = None) -> tuple[Any, Any]:
        where = type(self).__name__
        batch = 1 if self.time_major else 0
        tensor(inputs, "inputs", where)
        if inputs.ndim != 3 or inputs.shape[2] not in (UNKNOWN, self.input_size):
            order = "steps, batch" if self.time_major else "batch, steps"
            raise ShapeError(
                f"{where}: inputs '{inputs.name}' must have the shape [{order}, {self.input_size}], but it is "
                f"{list(inputs.shape)}."
            )
        if sequence_length is not None:
            tensor(sequence_length, "sequence_length", where, INTEGERS)
        states = self._zeros(inputs, batch) if initial_states is None else initial_states
        before = [states] if isinstance(states, AnyTensor) else list(states)
        if len(before) != self.parts:
            raise UsageError(
                f"{where}: initial_states must be {'a pair (h, c)' if self.parts == 2 else 'one variable'}, "
                f"but there are {len(before)}"
            )
        if self.proj_size:
            return self._by_layers(inputs, before, sequence_length)
        if not self.time_major:
            inputs = paddle.transpose(inputs, [1, 0, 2])
        out, *after = self._by_operator(inputs, before, sequence_length)
        if not self.time_major:
            out = paddle.transpose(out, [1, 0, 2])
        return out, self._joined(after)

    def _zeros(self, inputs: Any, batch: int) -> list[Any]:
        dim = inputs.shape[batch]
        size = dim if dim != UNKNOWN else paddle.shape(inputs)[batch]
        widths = [self.proj_size or self.hidden_size, self.hidden_size][: self.parts]
        cells = self.num_layers * self.num_directions
        return [paddle.full([cells, size, width], 0, inputs.dtype) for width in widths]

    def _joined(self, parts: list[Any]) -> Any:
        return tuple(parts) if len(parts) > 1 else parts[0]

    def _by_operator(self, inputs: Any, before: list[Any], lengths: Any) -> list[Any]:
        cells = self._cells()
        weights = [w for c in cells for w in (c.weight_ih, c.weight_hh)]
        weights += [b for c in cells for b in (c.bias_ih, c.bias_hh)]
        attrs = {
            "dropout_prob": self.dropout,
            "is_bidirec": self.num_directions == 2,
            "input_size": self.input_size,
            "hidden_size": self.hidden_size,
            "num_layers": self.num_layers,
            "mode": self.mode,
            "is_test": not self.training,
        }
        name, outputs = None, {}
        if state.in_static_mode():
            name = self.full_name()
            mask = f"{name}.dropout_state__non_persistable"
            # Every call keeps its own: the gradient of an earlier one still reads what that one dropped.
            if not any(b.has_var(mask) for b in paddle.static.default_main_program().blocks):
                outputs["DropoutState"] = mask
        out, after, dropout_state, reserve = apply(
            "rnn", inputs, before, weights, lengths, attrs=attrs, name=name, outputs=outputs, counts=[self.parts]
        )
        cut(dropout_state, reserve)
        return [out, *after]

    def _by_layers(self, inputs: Any, before: list[Any], lengths: Any) -> tuple[Any, Any]:
        """Layer after layer with its cells, for what the operator does not know: projected outputs."""
        starts = list(zip(*(paddle.unstack(s) for s in before), strict=True))
        finals: list[Any] = []
        for i, layer in enumerate(self):
            if i:
                inputs = F.dropout(inputs, self.dropout, training=self.training)
            own = [self._joined(list(s)) for s in starts[len(finals) : len(finals) + self.num_directions]]
            inputs, final = layer(inputs, own[0] if len(own) == 1 else tuple(own), lengths)
            finals += [final] if len(own) == 1 else final
        columns = zip(*([f] if isinstance(f, AnyTensor) else f for f in finals), strict=True)
        return inputs, self._joined([paddle.stack(list(c)) for c in columns])

    def flatten_parameters(self) -> None:
        """Nothing: it lays parameters out one after another in memory for cuDNN, which is not used here."""

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.time_major:
            text += f", time_major={self.time_major}"
        return text + (f", dropout={self.dropout}" if self.dropout else "")


class LSTM(RNNBase):
    """Layers of LSTM cells (:class:`LSTMCell` has the formulas), one after the other.

    Called with ``inputs`` ``[batch, steps, input_size]`` and states ``(h, c)``, each
    ``[num_layers · directions, batch, hidden_size]`` (zeros by default), it returns the outputs
    ``[batch, steps, directions · hidden_size]`` and the final states.

    Args:
        input_size, hidden_size: how many numbers a step of the inputs and a state have.
        num_layers: how many layers there are; each takes the outputs of the one below.
        direction: ``forward``; ``bidirect`` or ``bidirectional`` for one network from each end, side by side.
        time_major: inputs and outputs have time as their first dimension, and the batch as their second.
        dropout: in training, drop that part of what a layer hands to the next.
        weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr: how the parameters are made; with False they are
            constants, ones for weights and zeros for biases.
        proj_size: when greater than 0, ``h`` is projected to that size. Layers are then computed cell by cell, in
            which outputs behind the end of a sequence are not set to 0.

    Raises:
        UsageError: a size, a direction or states that cannot be (a ValueError).
        ShapeError: inputs, states or lengths of other shapes (a ValueError).

    >>> from gradtool import paddle
    >>> lstm = paddle.nn.LSTM(4, 3, num_layers=2, direction="bidirect")
    >>> y, (h, c) = lstm(paddle.ones([2, 5, 4]))
    >>> y.shape, h.shape, c.shape
    ([2, 5, 6], [4, 2, 3], [4, 2, 3])
    """

    parts = 2

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        proj_size: int = 0,
        name: str | None = None,
    ) -> None:
        super().__init__()
        settings = {
            "weight_ih_attr": weight_ih_attr,
            "weight_hh_attr": weight_hh_attr,
            "bias_ih_attr": bias_ih_attr,
            "bias_hh_attr": bias_hh_attr,
            "proj_size": proj_size,
        }
        self._make("LSTM", LSTMCell, input_size, hidden_size, num_layers, direction, time_major, dropout, settings)


class GRU(RNNBase):
    """Layers of GRU cells (:class:`GRUCell` has the formulas), one after the other.

    It takes the arguments of :class:`LSTM` but *proj_size*, and a state of one part ``h``.

    >>> from gradtool import paddle
    >>> y, h = paddle.nn.GRU(4, 3)(paddle.ones([2, 5, 4]))
    >>> y.shape, h.shape
    ([2, 5, 3], [1, 2, 3])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        settings = {
            "weight_ih_attr": weight_ih_attr,
            "weight_hh_attr": weight_hh_attr,
            "bias_ih_attr": bias_ih_attr,
            "bias_hh_attr": bias_hh_attr,
        }
        self._make("GRU", GRUCell, input_size, hidden_size, num_layers, direction, time_major, dropout, settings)


class SimpleRNN(RNNBase):
    """Layers of simple cells (:class:`SimpleRNNCell` has the formula), one after the other.

    It takes the arguments of :class:`LSTM` but *proj_size*, and a state of one part ``h``.

    Args:
        activation: ``tanh`` or ``relu``.

    >>> from gradtool import paddle
    >>> y, h = paddle.nn.SimpleRNN(4, 3, activation="relu", time_major=True)(paddle.ones([5, 2, 4]))
    >>> y.shape, h.shape
    ([5, 2, 3], [1, 2, 3])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        activation: str = "tanh",
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        if activation not in ("tanh", "relu"):
            raise UsageError(f"Unknown activation '{activation}'", hint="it can be tanh or relu")
        super().__init__()
        settings = {
            "activation": activation,
            "weight_ih_attr": weight_ih_attr,
            "weight_hh_attr": weight_hh_attr,
            "bias_ih_attr": bias_ih_attr,
            "bias_hh_attr": bias_hh_attr,
        }
        mode = f"RNN_{activation.upper()}"
        self.activation = activation
        self._make(mode, SimpleRNNCell, input_size, hidden_size, num_layers, direction, time_major, dropout, settings)


def rnn(
    cell: Any,
    inputs: Any,
    initial_states: Any = None,
    sequence_length: Any = None,
    time_major: bool = False,
    is_reverse: bool = False,
    **kwargs: Any,
) -> Any:
    """A cell over all steps: as :class:`RNN`, whose arguments these are, without a layer of its own."""
    return RNN(cell, is_reverse, time_major)(inputs, initial_states, sequence_length, **kwargs)


def birnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    initial_states: Any = None,
    sequence_length: Any = None,
    time_major: bool = False,
    **kwargs: Any,
) -> Any:
    """Two cells in both directions: as :class:`BiRNN`, whose arguments these are, without a layer of its own."""
    return BiRNN(cell_fw, cell_bw, time_major)(inputs, initial_states, sequence_length, **kwargs)
