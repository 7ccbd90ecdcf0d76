"""Recurrent networks over whole sequences, as one operator: layers, directions, dropout between layers."""

from __future__ import annotations

from functools import cache
from typing import Any

from ...core.errors import DtypeError, OperatorError, ShapeError
from ...core.spec import UNKNOWN, uint8
from ..opdef import Like, Trait, op
from ..samples import exactly
from .recurrent_cells import CELLS, against, along, total

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


# -- layers of them ----------------------------------------------------------------------------------------------------


class Net:
    """Layout of a network, shared by kernel and gradient rule."""

    def __init__(self, k, before, weights, lengths, x, dropout_state, *, dropout_prob, is_bidirec, num_layers, mode):
        self.k, self.cell = k, CELLS[mode]
        self.weights, self.layers, self.ways = weights, num_layers, 2 if is_bidirec else 1
        self.starts = list(zip(*(k.unstack(s) for s in before), strict=True))
        self.inside = None if lengths is None else k.unstack(k.before_end(x, lengths))
        self.masks = None if dropout_state is None else k.unstack(dropout_state)
        self.scale = 1 / (1 - dropout_prob) if dropout_prob < 1 else 1.0

    def own(self, i: int) -> Any:
        """The four weights of the cell *i*; cells are counted layer by layer."""
        biases = 2 * self.layers * self.ways
        return *self.weights[2 * i : 2 * i + 2], *self.weights[biases + 2 * i : biases + 2 * i + 2]

    def thinned(self, x, layer):
        """Return what *layer* is given of the outputs below it; and the same for the gradient, the other way round."""
        if not layer or self.masks is None:
            return x
        return x * self.k.cast_like(self.masks[layer - 1], x) * self.scale

    def along(self, i, x, backwards, keep):
        """Run the cell *i* over *x*: the outputs of all steps, the last states, and to *keep* its trail."""
        outputs, final, trail = along(self.k, self.cell, x, self.starts[i], self.own(i), self.inside, backwards)
        return self.k.stack(outputs), final, trail

    def against(self, i, trail, backwards, by_outputs, by_states):
        """The states before the steps of the cell *i*, and the gradients of :func:`against`."""
        k, w = self.k, self.own(i)[1]
        hidden = k.stack([states[0] for states, _, _ in trail])
        return hidden, *against(k, self.cell, trail, w, self.inside, backwards, k.unstack(by_outputs), by_states)

    def forwards(self, x, keep=False):
        """The outputs and the final states; to *keep*, also each layer's input and its cells' trails."""
        k, finals, layers = self.k, [], []
        for layer in range(self.layers):
            x = self.thinned(x, layer)
            sides, trails = [], []
            for way in range(self.ways):
                i = layer * self.ways + way
                outputs, final, trail = self.along(i, x, way == 1, keep)
                sides.append(outputs)
                finals.append(final)
                if keep:
                    trails.append(trail)
            if keep:
                layers.append((x, trails))
            x = k.concat(sides, axis=2) if self.ways == 2 else sides[0]
        return x, [k.stack(list(part)) for part in zip(*finals, strict=True)], layers

    def backwards(self, x, by_out, by_states):
        """By cell: its layer's input, and what :meth:`against` gives."""
        k = self.k
        layers = self.forwards(x, keep=True)[2]
        ends = list(zip(*(k.unstack(g) for g in by_states), strict=True))
        cells: list[Any] = [None] * len(ends)
        for layer in reversed(range(self.layers)):
            x, trails = layers[layer]
            sides = k.split(by_out, axis=2, num=2) if self.ways == 2 else [by_out]
            for way, trail in enumerate(trails):
                i = layer * self.ways + way
                cells[i] = x, *self.against(i, trail, way == 1, sides[way], ends[i])
            if layer:
                by_out = self.thinned(self.by_input(cells, layer), layer)
        return cells

    def by_input(self, cells, layer):
        """The gradient of what *layer* was given."""
        places = range(layer * self.ways, (layer + 1) * self.ways)
        return total(self.k.matmul(cells[i][2], self.own(i)[0]) for i in places)

    def by_weights(self, cells):
        """For each weight, a function that gives its gradient."""
        k, matrices, biases = self.k, [], []
        for i, (x, hidden, by_input, by_state, _) in enumerate(cells):
            matrices.append(lambda d=by_input, x=x: k.matmul(k.as_rows(d), k.as_rows(x), trans_x=True))
            matrices.append(lambda d=by_state, h=hidden: k.matmul(k.as_rows(d), k.as_rows(h), trans_x=True))
            _, _, b_input, b_state = self.own(i)
            biases.append(lambda d=by_input, b=b_input: k.sum_to(d, b))
            biases.append(lambda d=by_state, b=b_state: k.sum_to(d, b))
        return matrices + biases


@op("before_end", "X Lengths -> Out", trait=Trait.INTERNAL, differentiable=False)
def before_end(k, x, lengths):
    """Mask of the steps of *x* ``[T, N, …]`` that lie within sequences of these *lengths*: truth values ``[T, N,
    1]``.
    """
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
    dropout_state = k.draws(seed).draw_mask(shape, dropout_prob).astype(xp.uint8) if drops else None
    out, states, _ = k.primitive(Net)(
        k.ops,
        prestate,
        weightlist,
        sequencelength,
        input,
        dropout_state,
        dropout_prob=dropout_prob,
        is_bidirec=is_bidirec,
        num_layers=num_layers,
        mode=mode,
    ).forwards(input)
    return out, states, xp.zeros(shape, xp.uint8) if dropout_state is None else dropout_state, xp.zeros((0,), xp.uint8)


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
    net = k.primitive(Net)(
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
    state = x.replace_shape((cells, size, hidden_size))
    return (
        x.replace_shape((steps, size, width)),
        (state,) * parts,
        x.replace_shape((masks, steps, batch, width)).replace_dtype(uint8),
        x.replace_shape((0,)).replace_dtype(uint8),
    )


# -- samples -----------------------------------------------------------------------------------------------------------


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
