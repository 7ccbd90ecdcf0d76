"""Recurrent networks over whole sequences, as one operator: layers, directions, dropout between layers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from ...errors import DtypeError, OperatorError, ShapeError
from ...spec import UNKNOWN, uint8
from ..opdef import Like, Trait, op
from ..samples import exactly

ATTRS = {
    "dropout_prob": 0.0,
    "is_bidirec": False,
    "input_size": 10,
    "hidden_size": 100,
    "num_layers": 1,
    "mode": "RNN_TANH",
    "is_test": False,
    "seed": 0,
}


# -- one step: from the input's part of the gates and the states before to the states after, and back -------------------


class Cell(NamedTuple):
    """A kind of cell.

    Attributes:
        gates: how many times the size of the state a step computes.
        step: takes the input's part of the gates, the states before, the weight and the bias of the state; gives the
            states after and what ``back`` needs of its intermediate results.
        back: takes these, the states before, those after and their gradients; gives the gradients of the gates for
            the input's part and for the state's, and for each state before the gradient that does not go through the
            gates (None where there is none).
    """

    gates: int
    step: Callable
    back: Callable


def _lstm(k, from_input, states, w, b):
    hidden, cell = states
    gates = from_input + k.matmul(hidden, w, trans_y=True) + b
    write, keep, candidate, read = k.split(gates, axis=1, num=4)
    write, keep, candidate, read = k.sigmoid(write), k.sigmoid(keep), k.tanh(candidate), k.sigmoid(read)
    cell = keep * cell + write * candidate
    seen = k.tanh(cell)
    return [read * seen, cell], (write, keep, candidate, read, seen)


def _lstm_back(k, states, after, kept, gradients):
    write, keep, candidate, read, seen = kept
    by_hidden, by_cell = gradients
    by_cell = by_cell + by_hidden * read * (1 - seen * seen)
    parts = [
        by_cell * candidate * write * (1 - write),
        by_cell * states[1] * keep * (1 - keep),
        by_cell * write * (1 - candidate * candidate),
        by_hidden * seen * read * (1 - read),
    ]
    by_gates = k.concat(parts, axis=1)
    return by_gates, by_gates, (None, by_cell * keep)


def _gru(k, from_input, states, w, b):
    (hidden,) = states
    x_reset, x_update, x_candidate = k.split(from_input, axis=1, num=3)
    h_reset, h_update, h_candidate = k.split(k.matmul(hidden, w, trans_y=True) + b, axis=1, num=3)
    reset, update = k.sigmoid(x_reset + h_reset), k.sigmoid(x_update + h_update)
    candidate = k.tanh(x_candidate + reset * h_candidate)
    return [(hidden - candidate) * update + candidate], (reset, update, candidate, h_candidate)


def _gru_back(k, states, after, kept, gradients):
    (hidden,), (by_hidden,) = states, gradients
    reset, update, candidate, h_candidate = kept
    by_candidate = by_hidden * (1 - update) * (1 - candidate * candidate)
    by_reset = by_candidate * h_candidate * reset * (1 - reset)
    by_update = by_hidden * (hidden - candidate) * update * (1 - update)
    by_input = k.concat([by_reset, by_update, by_candidate], axis=1)
    by_state = k.concat([by_reset, by_update, by_candidate * reset], axis=1)
    return by_input, by_state, (by_hidden * update,)


def _tanh(k, from_input, states, w, b):
    return [k.tanh(from_input + k.matmul(states[0], w, trans_y=True) + b)], ()


def _tanh_back(k, states, after, kept, gradients):
    by_sum = gradients[0] * (1 - after[0] * after[0])
    return by_sum, by_sum, (None,)


def _relu(k, from_input, states, w, b):
    return [k.relu(from_input + k.matmul(states[0], w, trans_y=True) + b)], ()


def _relu_back(k, states, after, kept, gradients):
    by_sum = gradients[0] * (after[0] > 0)
    return by_sum, by_sum, (None,)


CELLS = {
    "LSTM": Cell(4, _lstm, _lstm_back),
    "GRU": Cell(3, _gru, _gru_back),
    "RNN_TANH": Cell(1, _tanh, _tanh_back),
    "RNN_RELU": Cell(1, _relu, _relu_back),
}


# -- a sequence in one direction ----------------------------------------------------------------------------------------


def _along(k, cell, x, states, weights, inside, backwards):
    """The outputs of all steps, the last states, and by step what was before it and what ``back`` needs."""
    w_input, w_state, b_input, b_state = weights
    parts = k.unstack(k.matmul(x, w_input, trans_y=True) + b_input)
    outputs, trail = [None] * len(parts), [None] * len(parts)
    for t in reversed(range(len(parts))) if backwards else range(len(parts)):
        after, kept = cell.step(k, parts[t], states, w_state, b_state)
        trail[t] = states, after, kept
        outputs[t] = after[0]
        if inside is not None:
            outputs[t] = k.where(inside[t], after[0], k.zeros_like(after[0]))
            after = [k.where(inside[t], new, old) for new, old in zip(after, states, strict=True)]
        states = after
    return outputs, states, trail


def _against(k, cell, trail, w_state, inside, backwards, by_outputs, by_states):
    """Gradients from those of the outputs and the last states: for both parts of the gates, and the first states."""
    by_input, by_state = [None] * len(trail), [None] * len(trail)
    for t in range(len(trail)) if backwards else reversed(range(len(trail))):
        states, after, kept = trail[t]
        passed = [None] * len(states)
        by_after, by_output = by_states, by_outputs[t]
        if inside is not None:
            zero = k.zeros_like(by_output)
            passed = [k.where(inside[t], zero, g) for g in by_states]
            by_after = [k.where(inside[t], g, zero) for g in by_states]
            by_output = k.where(inside[t], by_output, zero)
        by_after = [by_after[0] + by_output, *by_after[1:]]
        by_input[t], by_state[t], direct = cell.back(k, states, after, kept, by_after)
        through = k.matmul(by_state[t], w_state), *(None for _ in states[1:])
        by_states = [_sum(terms) for terms in zip(through, direct, passed, strict=True)]
    same = by_input[0] is by_state[0]
    stacked = k.stack(by_input)
    return stacked, stacked if same else k.stack(by_state), by_states


def _sum(terms):
    first, *rest = (t for t in terms if t is not None)
    for term in rest:
        first = first + term
    return first


# -- layers of them -----------------------------------------------------------------------------------------------------


class Net:
    """Where things are in a network: what kernel and gradient rule have in common."""

    def __init__(self, k, before, weights, lengths, x, kept, *, dropout_prob, is_bidirec, num_layers, mode):
        self.k, self.cell = k, CELLS[mode]
        self.weights, self.layers, self.ways = weights, num_layers, 2 if is_bidirec else 1
        self.starts = list(zip(*(k.unstack(s) for s in before), strict=True))
        self.inside = None if lengths is None else k.unstack(k.before_end(x, lengths))
        self.masks = None if kept is None else k.unstack(kept)
        self.scale = 1 / (1 - dropout_prob) if dropout_prob < 1 else 1.0

    def own(self, i):
        """The four weights of the cell *i*; cells are counted layer by layer."""
        biases = 2 * self.layers * self.ways
        return *self.weights[2 * i : 2 * i + 2], *self.weights[biases + 2 * i : biases + 2 * i + 2]

    def thinned(self, x, layer):
        """What *layer* is given of the outputs below it; and the same for the gradient, the other way round."""
        if not layer or self.masks is None:
            return x
        return x * self.k.cast_like(self.masks[layer - 1], x) * self.scale

    def forwards(self, x, keep=False):
        """The outputs and the final states; to *keep*, also each layer's input and its cells' trails."""
        k, finals, layers = self.k, [], []
        for layer in range(self.layers):
            x = self.thinned(x, layer)
            sides, trails = [], []
            for way in range(self.ways):
                i = layer * self.ways + way
                outputs, final, trail = _along(k, self.cell, x, self.starts[i], self.own(i), self.inside, way == 1)
                sides.append(k.stack(outputs))
                finals.append(final)
                trails.append(trail if keep else None)
            layers.append((x, trails))
            x = k.concat(sides, axis=2) if self.ways == 2 else sides[0]
        return x, [k.stack(list(part)) for part in zip(*finals, strict=True)], layers

    def backwards(self, x, by_out, by_states):
        """By cell: its layer's input, the states before its steps, and the gradients of :func:`_against`."""
        k = self.k
        layers = self.forwards(x, keep=True)[2]
        ends = list(zip(*(k.unstack(g) for g in by_states), strict=True))
        cells = [None] * len(ends)
        for layer in reversed(range(self.layers)):
            x, trails = layers[layer]
            sides = k.split(by_out, axis=2, num=2) if self.ways == 2 else [by_out]
            for way, trail in enumerate(trails):
                i = layer * self.ways + way
                w = self.own(i)[1]
                found = _against(k, self.cell, trail, w, self.inside, way == 1, k.unstack(sides[way]), ends[i])
                cells[i] = x, [states[0] for states, _, _ in trail], *found
            if layer:
                by_out = self.thinned(self.by_input(cells, layer), layer)
        return cells

    def by_input(self, cells, layer):
        """The gradient of what *layer* was given."""
        places = range(layer * self.ways, (layer + 1) * self.ways)
        return _sum(self.k.matmul(cells[i][2], self.own(i)[0]) for i in places)

    def by_weights(self, cells):
        """For each weight, a function that gives its gradient."""
        k, matrices, biases = self.k, [], []
        for i, (x, hidden, by_input, by_state, _) in enumerate(cells):
            matrices.append(lambda d=by_input, x=x: k.matmul(k.as_rows(d), k.as_rows(x), trans_x=True))
            matrices.append(lambda d=by_state, h=hidden: k.matmul(k.as_rows(d), k.as_rows(k.stack(h)), trans_x=True))
            _, _, b_input, b_state = self.own(i)
            biases.append(lambda d=by_input, b=b_input: k.sum_to(d, b))
            biases.append(lambda d=by_state, b=b_state: k.sum_to(d, b))
        return matrices + biases


@op("before_end", "X Lengths -> Out", trait=Trait.INTERNAL, differentiable=False)
def before_end(k, x, lengths):
    """Which steps of *x* ``[T, N, …]`` lie within sequences of these *lengths*: truth values ``[T, N, 1]``."""
    return (k.xp.arange(x.shape[0])[:, None] < lengths)[..., None]


def _drops(dropout_prob, is_test, num_layers):
    return dropout_prob > 0 and not is_test and num_layers > 1


@op(
    "rnn",
    "Input PreState* WeightList* SequenceLength? -> Out State* DropoutState Reserve",
    attrs=ATTRS,
    trait=Trait.RANDOM,
)
def rnn(k, input, prestate, weightlist, sequencelength, *, dropout_prob, is_bidirec, num_layers, mode, is_test, seed):
    """A recurrent network over the sequences Input ``[T, N, input_size]``: layers, in one direction or in both.

    ``mode`` is ``LSTM``, ``GRU``, ``RNN_TANH`` or ``RNN_RELU``. Each part of PreState, of State and what they hold for
    every layer and direction is ``[num_layers · directions, N, hidden_size]``. WeightList has ``W_ih W_hh`` for every
    layer and direction, then ``b_ih b_hh`` for each. With SequenceLength ``[N]``, outputs behind the end of a
    sequence are 0 and its states stay as they were there; the backward direction starts at the end.

    DropoutState says which outputs of a layer the next one was given, ``[num_layers - 1, T, N, …]``, when elements are
    dropped. Reserve is empty: the gradient computes the steps again, so that only the inputs are kept for it.
    """
    xp = k.xp
    steps, batch, _ = input.shape
    if not steps:
        raise ShapeError("rnn: Input has no steps", hint="give it at least one step in time")
    drops = _drops(dropout_prob, is_test, num_layers)
    shape = (num_layers - 1 if drops else 0, steps, batch, prestate[0].shape[2] * (2 if is_bidirec else 1))
    kept = xp.asarray(k.generator(seed).random(shape) >= dropout_prob).astype(xp.uint8) if drops else None
    out, states, _ = Net(
        k.ops,
        prestate,
        weightlist,
        sequencelength,
        input,
        kept,
        dropout_prob=dropout_prob,
        is_bidirec=is_bidirec,
        num_layers=num_layers,
        mode=mode,
    ).forwards(input)
    return out, states, xp.zeros(shape, xp.uint8) if kept is None else kept, xp.zeros((0,), xp.uint8)


@rnn.gradient(wrt="Input PreState WeightList")
def _(
    k,
    input,
    prestate,
    weightlist,
    sequencelength,
    out: Like,
    dropoutstate,
    reserve: Like,
    dout,
    dstate,
    *,
    dropout_prob,
    is_bidirec,
    num_layers,
    mode,
    is_test,
):
    net = Net(
        k,
        prestate,
        weightlist,
        sequencelength,
        input,
        dropoutstate if _drops(dropout_prob, is_test, num_layers) else None,
        dropout_prob=dropout_prob,
        is_bidirec=is_bidirec,
        num_layers=num_layers,
        mode=mode,
    )
    cells = cache(lambda: net.backwards(input, dout, dstate))
    return (
        lambda: net.by_input(cells(), 0),
        lambda: [k.stack(list(part)) for part in zip(*(c[4] for c in cells()), strict=True)],
        lambda: net.by_weights(cells()),
    )


def _expect(slot, spec, shape, why):
    if spec.ndim != len(shape) or any(UNKNOWN not in (a, b) and a != b for a, b in zip(spec.shape, shape, strict=True)):
        raise ShapeError(f"rnn: {slot} must have the shape {list(shape)} {why}, but it is {list(spec.shape)}")


@rnn.infer
def _(x, before, weights, lengths, *, dropout_prob, is_bidirec, input_size, hidden_size, num_layers, mode, is_test):
    if mode not in CELLS:
        raise OperatorError(f"rnn: mode must be one of {', '.join(CELLS)}, not {mode!r}")
    if not 0 <= dropout_prob <= 1:
        raise OperatorError(f"rnn: dropout_prob must lie between 0 and 1, but is {dropout_prob}")
    ways = 2 if is_bidirec else 1
    cells, parts = num_layers * ways, 2 if mode == "LSTM" else 1
    if num_layers < 1 or len(before) != parts or len(weights) != 4 * cells:
        raise OperatorError(
            f"rnn: {mode} of {num_layers} layers in {ways} directions takes {parts} states and {4 * cells} weights, "
            f"but received {len(before)} and {len(weights)}"
        )
    _expect("Input", x, (UNKNOWN, UNKNOWN, input_size), "[steps, batch, input_size]")
    if x.shape[0] == 0:
        raise ShapeError("rnn: Input has no steps", hint="give it at least one step in time")
    steps, batch, _ = x.shape
    for i, s in enumerate(before):
        _expect(f"PreState[{i}]", s, (cells, batch, hidden_size), "[layers · directions, batch, hidden_size]")
    rows = CELLS[mode].gates * hidden_size
    for cell in range(cells):
        width = input_size if cell < ways else hidden_size * ways
        own = (rows, width), (rows, hidden_size), (rows,), (rows,)
        places = 2 * cell, 2 * cell + 1, 2 * (cells + cell), 2 * (cells + cell) + 1
        for place, shape in zip(places, own, strict=True):
            _expect(f"WeightList[{place}]", weights[place], shape, f"in layer {cell // ways}")
    if lengths is not None:
        if not lengths.dtype.is_integer:
            raise DtypeError(f"rnn: SequenceLength must hold whole numbers, but received {lengths.dtype.name}")
        _expect("SequenceLength", lengths, (batch,), "[batch]")
    size = batch if batch != UNKNOWN else before[0].shape[1]
    width = hidden_size * ways
    masks = num_layers - 1 if _drops(dropout_prob, is_test, num_layers) else 0
    state = x.with_shape((cells, size, hidden_size))
    return (
        x.with_shape((steps, size, width)),
        (state,) * parts,
        x.with_shape((masks, steps, batch, width)).with_dtype(uint8),
        x.with_shape((0,)).with_dtype(uint8),
    )


# -- samples ------------------------------------------------------------------------------------------------------------


def _operands(mode, steps, batch, width, hidden, layers=1, ways=1):
    """Input, states and weights of a network, and the attributes that say so."""
    rows, cells = CELLS[mode].gates * hidden, layers * ways
    weights = []
    for cell in range(cells):
        weights += [(rows, width if cell < ways else hidden * ways), (rows, hidden)]
    return {
        "input": (steps, batch, width),
        "prestate": [(cells, batch, hidden)] * (2 if mode == "LSTM" else 1),
        "weightlist": weights + [(rows,)] * (2 * cells),
        "input_size": width,
        "hidden_size": hidden,
        "num_layers": layers,
        "is_bidirec": ways == 2,
        "mode": mode,
    }


@rnn.samples
def _(make):
    yield make(**_operands("LSTM", 3, 2, 4, 2), is_test=True)
    yield make(**_operands("GRU", 2, 3, 1, 4), is_test=True)
    yield make(**_operands("RNN_TANH", 3, 2, 4, 1, layers=2), is_test=True)
    yield make(**_operands("RNN_RELU", 2, 3, 4, 1), is_test=True, smooth=False)
    yield make(**_operands("GRU", 3, 2, 1, 4, layers=2, ways=2), sequencelength=exactly([3, 1], "int64"))
    yield make(**_operands("LSTM", 2, 3, 1, 4, ways=2), sequencelength=exactly([1, 2, 0], "int32"))
    yield make(**_operands("LSTM", 3, 2, 1, 4, layers=2, ways=2), dropout_prob=0.5, seed=5)
    yield make(**_operands("GRU", 2, 0, 3, 4), is_test=True)
