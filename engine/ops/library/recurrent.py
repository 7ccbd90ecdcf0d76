"""Recurrent networks over whole sequences, as one operator: layers, directions, dropout between layers."""

from __future__ import annotations

from ...errors import DtypeError, OperatorError, ShapeError
from ...spec import UNKNOWN, uint8
from ..opdef import Like, Trait, op
from ..readings import pulled_back
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

GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
"""How many times the size of the state a step computes, by mode."""


# -- one step: from the input's part of the gates and the states before to the states after -----------------------------


def _lstm(k, from_input, states, w, b):
    hidden, cell = states
    gates = from_input + k.matmul(hidden, w, trans_y=True) + b
    write, keep, candidate, read = k.split(gates, axis=1, num=4)
    cell = k.sigmoid(keep) * cell + k.sigmoid(write) * k.tanh(candidate)
    return [k.sigmoid(read) * k.tanh(cell), cell]


def _gru(k, from_input, states, w, b):
    (hidden,) = states
    x_reset, x_update, x_candidate = k.split(from_input, axis=1, num=3)
    h_reset, h_update, h_candidate = k.split(k.matmul(hidden, w, trans_y=True) + b, axis=1, num=3)
    candidate = k.tanh(x_candidate + k.sigmoid(x_reset + h_reset) * h_candidate)
    return [(hidden - candidate) * k.sigmoid(x_update + h_update) + candidate]


def _simple(activation):
    def step(k, from_input, states, w, b):
        return [getattr(k, activation)(from_input + k.matmul(states[0], w, trans_y=True) + b)]

    return step


STEPS = {"LSTM": _lstm, "GRU": _gru, "RNN_TANH": _simple("tanh"), "RNN_RELU": _simple("relu")}


# -- a sequence, and layers of them -------------------------------------------------------------------------------------


def _one_way(k, step, x, states, weights, inside, backwards):
    """The outputs ``[T, N, H]`` and the last states of one layer in one direction."""
    w_input, w_state, b_input, b_state = weights
    parts = k.unstack(k.matmul(x, w_input, trans_y=True) + b_input)
    outputs = [None] * len(parts)
    for t in reversed(range(len(parts))) if backwards else range(len(parts)):
        after = step(k, parts[t], states, w_state, b_state)
        if inside is None:
            outputs[t] = after[0]
        else:
            outputs[t] = k.where(inside[t], after[0], k.zeros_like(after[0]))
            after = [k.where(inside[t], new, old) for new, old in zip(after, states, strict=True)]
        states = after
    return k.stack(outputs), states


def _network(k, x, before, weights, lengths, kept, *, dropout_prob, is_bidirec, num_layers, mode):
    """The outputs of the last layer and the final states: what kernel and gradient have in common.

    Args:
        kept: by layer but the first, which of the outputs below are not dropped; None without dropout.
    """
    ways = 2 if is_bidirec else 1
    inside = None if lengths is None else k.unstack(k.before_end(x, lengths))
    starts = list(zip(*(k.unstack(s) for s in before), strict=True))
    biases, masks = 2 * num_layers * ways, None if kept is None else k.unstack(kept)
    finals = []
    for layer in range(num_layers):
        if layer and masks is not None:
            x = x * k.cast_like(masks[layer - 1], x) * (1 / (1 - dropout_prob) if dropout_prob < 1 else 1.0)
        sides = []
        for way in range(ways):
            i = 2 * len(finals)
            own = *weights[i : i + 2], *weights[biases + i : biases + i + 2]
            out, final = _one_way(k, STEPS[mode], x, starts[len(finals)], own, inside, way == 1)
            sides.append(out)
            finals.append(final)
        x = k.concat(sides, axis=2) if ways == 2 else sides[0]
    return x, [k.stack(list(part)) for part in zip(*finals, strict=True)]


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
    out, states = _network(
        k.ops,
        input,
        prestate,
        weightlist,
        sequencelength,
        kept,
        dropout_prob=dropout_prob,
        is_bidirec=is_bidirec,
        num_layers=num_layers,
        mode=mode,
    )
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
    kept = dropoutstate if _drops(dropout_prob, is_test, num_layers) else None
    found = []

    def network(k, x, before, weights):
        out, states = _network(
            k,
            x,
            before,
            weights,
            sequencelength,
            kept,
            dropout_prob=dropout_prob,
            is_bidirec=is_bidirec,
            num_layers=num_layers,
            mode=mode,
        )
        return [out, *states]

    def gradient(place):
        if not found:
            found.extend(pulled_back(k, network, [input, prestate, weightlist], [dout, *dstate]))
        return found[place]

    return (
        lambda: gradient(0),
        lambda: gradient(1),
        lambda: gradient(2),
    )


def _expect(slot, spec, shape, why):
    if spec.ndim != len(shape) or any(UNKNOWN not in (a, b) and a != b for a, b in zip(spec.shape, shape, strict=True)):
        raise ShapeError(f"rnn: {slot} must have the shape {list(shape)} {why}, but it is {list(spec.shape)}")


@rnn.infer
def _(x, before, weights, lengths, *, dropout_prob, is_bidirec, input_size, hidden_size, num_layers, mode, is_test):
    if mode not in GATES:
        raise OperatorError(f"rnn: mode must be one of {', '.join(GATES)}, not {mode!r}")
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
    rows = GATES[mode] * hidden_size
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
    rows, cells = GATES[mode] * hidden, layers * ways
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
