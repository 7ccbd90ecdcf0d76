"""The probability that a transducer writes a sequence, added up over all alignments (Graves 2012)."""

from __future__ import annotations

from ...core.errors import DtypeError, ShapeError
from ...core.spec import UNKNOWN
from ..opdef import Trait, op
from ..samples import exactly, ints
from ..writing import put, put_along
from .lattice import FAR, derivative, sum_of


class _Lattice:
    """Frames down, labels across: a blank goes to the next frame, a label to the next place in the sequence."""

    def __init__(self, k, scores, label, frames, lengths, blank):
        self.k, self.xp = k, k.xp
        xp = k.xp
        batch, times, places, _ = scores.shape
        self.frames = frames.reshape(-1).astype(xp.int64)
        self.lengths = lengths.reshape(-1).astype(xp.int64)
        self.blanks = scores[..., blank]
        before = (slice(None), slice(None), slice(places - 1))
        index = put(xp.zeros((batch, times, places), xp.int64), before, label[:, None, : places - 1])
        self.index = index[..., None]
        # What lies behind the end of a frame or a sequence leads nowhere.
        across, down = xp.arange(places), xp.arange(times)
        labels = xp.take_along_axis(scores, self.index, 3)[..., 0]
        self.labels = xp.where(across < xp.minimum(self.lengths, places - 1)[:, None, None], labels, FAR)
        self.inside = (down[:, None] < self.frames[:, None, None]) & (across <= self.lengths[:, None, None])

    def forwards(self):
        """For every frame and place, the logarithm of the probability of the ways that lead there."""
        xp, k = self.xp, self.k
        blanks, labels = (xp.moveaxis(v, 0, -1) for v in (self.blanks, self.labels))  # [times, places, batch]
        first = xp.zeros_like(labels[:, :1])
        behind = xp.concatenate([first, labels[:, :-1]], axis=1)  # what leads to a place from the one before
        nothing = xp.full(blanks.shape[2:], FAR, blanks.dtype)
        start = put(xp.full(blanks.shape[1:], FAR, blanks.dtype), 0, 0.0)

        def cell(left, each):
            down, label = each
            reached = sum_of(xp, xp.stack([down, left + label]))
            return reached, reached

        def row(down, each):
            blank, label = each
            reached = k.scan(cell, nothing, (down, label))[1]
            return reached + blank, reached

        return xp.moveaxis(k.scan(row, start, (blanks, behind))[1], -1, 0)

    def backwards(self):
        """For every frame and place, and behind the last ones, that of the ways that go on from there."""
        xp, k = self.xp, self.k
        batch, times, places = self.blanks.shape
        blanks, labels, inside = (xp.moveaxis(v, 0, -1) for v in (self.blanks, self.labels, self.inside))
        at_end = xp.arange(places)[:, None] == self.lengths
        # The end: one blank behind the last frame.
        behind = (xp.arange(times + 1)[:, None] == self.frames)[:, None] & at_end
        ends = xp.where(behind, 0.0, FAR).astype(blanks.dtype)
        last = xp.arange(times)[:, None] == self.frames - 1
        nothing = xp.full((batch,), FAR, blanks.dtype)

        def cell(right, each):
            down, label, within, end = each
            reached = xp.where(within, sum_of(xp, xp.stack([down, right + label])), end)
            return reached, reached

        def row(after, each):
            blank, label, within, end, closes = each
            # Behind the last frame lies the end only.
            down = xp.where(closes & ~at_end, FAR, after + blank)
            reached = k.scan(cell, nothing, (down, label, within, end), reverse=True)[1]
            return reached, reached

        each = blanks, labels, inside, ends[:times], last
        rows = k.scan(row, ends[times], each, reverse=True)[1]
        beta = xp.moveaxis(xp.concatenate([rows, ends[times:]]), -1, 0)
        return xp.concatenate([beta, xp.full((batch, times + 1, 1), FAR, beta.dtype)], axis=2)


def _slope(k, scores, label, frames, lengths, blank):
    """Minus the probability that each step is taken: the derivative of the loss by the score of that step."""
    xp = k.xp
    lattice = _Lattice(k, scores, label, frames, lengths, blank)
    alpha, beta = lattice.forwards(), lattice.backwards()
    times, places = alpha.shape[1:]
    total = beta[:, 0, 0][:, None, None]
    down = xp.where(lattice.inside, alpha + lattice.blanks + beta[:, 1:, :places] - total, FAR)
    last = (xp.arange(times)[:, None] == lattice.frames[:, None, None] - 1) & (
        xp.arange(places) != lattice.lengths[:, None, None]
    )
    down = xp.where(last, FAR, down)
    across = xp.where(lattice.inside, alpha + lattice.labels + beta[:, :times, 1:] - total, FAR)
    slope = put(xp.zeros(scores.shape, alpha.dtype), (..., blank), -xp.exp(down))
    before = xp.take_along_axis(slope, lattice.index, 3)
    return put_along(slope, lattice.index, before - xp.exp(across)[..., None], 3)


@op(
    "warprnnt",
    "input label input_lengths label_lengths -> loss",
    attrs={"blank": 0, "fastemit_lambda": 0.0},
)
def warprnnt(k, input, label, input_lengths, label_lengths, *, blank, fastemit_lambda):
    """Minus the logarithm of the probability of each label.

    Labels are ``[batch, length]``, the scores, logarithms of probabilities, ``[batch, time, length + 1, classes]``.
    ``fastemit_lambda`` makes the gradient of labels, and not the loss, larger by that part, so that they are written
    early (Yu et al. 2021).
    """
    xp = k.xp
    if not input.size:
        return xp.zeros(input.shape[:1], input.dtype)
    lattice = _Lattice(k, input.astype(xp.float64), label, input_lengths, label_lengths, blank)
    loss = -lattice.backwards()[:, 0, 0]
    return xp.where(loss > -FAR / 2, xp.inf, loss).astype(input.dtype)


@warprnnt.infer
def _(input, label, input_lengths, label_lengths, *, blank):
    if input.ndim != 4 or label.ndim != 2:
        raise ShapeError(
            f"warprnnt: input {list(input.shape)} must be [batch, time, length + 1, classes], and label "
            f"{list(label.shape)} [batch, length]"
        )
    for slot, spec in (("label", label), ("input_lengths", input_lengths), ("label_lengths", label_lengths)):
        if not spec.dtype.is_integer:
            raise DtypeError(f"warprnnt: {slot} must be of a whole-number type, but is {spec.dtype.name}")
        if spec.shape[0] != input.shape[0] and UNKNOWN not in (spec.shape[0], input.shape[0]):
            raise ShapeError(f"warprnnt: the batch is {input.shape[0]}, but {slot} is {list(spec.shape)}")
    if UNKNOWN not in (input.shape[2], label.shape[1]) and input.shape[2] != label.shape[1] + 1:
        raise ShapeError(
            f"warprnnt: input {list(input.shape)} must have one place more than label {list(label.shape)} is long"
        )
    if blank < 0 or (input.shape[3] != UNKNOWN and blank >= input.shape[3]):
        raise ShapeError(f"warprnnt: blank must be one of the {input.shape[3]} classes, not {blank}")
    return input.replace_shape(input.shape[:1])


@warprnnt.gradient(wrt="input")
def _(k, input, label, input_lengths, label_lengths, dloss, *, blank, fastemit_lambda):
    slope = k.transducer_slope(input, label, input_lengths, label_lengths, blank=blank)
    if fastemit_lambda:
        slope = k.weigh_labels(slope, blank=blank, weight=1 + fastemit_lambda)
    return k.mul(slope, dloss, axis=0)


@op("weigh_labels", "X -> Out", attrs={"blank": 0, "weight": 1.0}, trait=Trait.INTERNAL)
def weigh_labels(k, x, *, blank, weight):
    """*x* times the weight, but for the class *blank*."""
    return put(x * weight, (..., blank), x[..., blank])


@weigh_labels.gradient
def _(k, dout, *, blank, weight):
    return k.weigh_labels(dout, blank=blank, weight=weight)


@op("transducer_slope", "Input Label Frames Lengths -> Out", attrs={"blank": 0}, trait=Trait.INTERNAL)
def transducer_slope(k, input, label, frames, lengths, *, blank):
    """The derivative of each sequence's loss by its scores."""
    xp = k.xp
    if not input.size:
        return xp.zeros(input.shape, input.dtype)
    return _slope(k, input.astype(xp.float64), label, frames, lengths, blank).astype(input.dtype)


@transducer_slope.gradient(wrt="Input")
def _(k, input, label, frames, lengths, dout, *, blank):
    return k.transducer_curve(input, [dout], label, frames, lengths, blank=blank)


@op("transducer_curve", "Input Along* Label Frames Lengths -> Out", attrs={"blank": 0}, trait=Trait.INTERNAL)
def transducer_curve(k, input, along, label, frames, lengths, *, blank):
    """The derivative of ``transducer_slope`` in all of the directions *along*."""
    xp = k.xp
    if not input.size:
        return xp.zeros(input.shape, input.dtype)

    def slope(point):
        return _slope(k, point, label, frames, lengths, blank)

    directions = [v.astype(xp.float64) for v in along]
    steps = input.shape[1] + input.shape[2]
    return derivative(xp, slope, input.astype(xp.float64), directions, steps).astype(input.dtype)


@transducer_curve.gradient(wrt="Input Along")
def _(k, input, along, label, frames, lengths, dout, *, blank):
    # Derivatives are the same in whatever order of the directions and of what they are taken of.
    def curve(directions):
        return k.transducer_curve(input, directions, label, frames, lengths, blank=blank)

    return (
        lambda: curve([*along, dout]),
        lambda: [curve([*along[:i], *along[i + 1 :], dout]) for i in range(len(along))],
    )


@warprnnt.samples
def _(make):
    lengths = {"input_lengths": exactly([4, 3], "int32"), "label_lengths": exactly([2, 1], "int32")}
    label = exactly([[1, 2], [3, 1]], "int32")
    yield make(input=(2, 4, 3, 5), label=label, **lengths)
    yield make(input=(2, 4, 3, 5), label=exactly([[1, 2], [0, 1]], "int32"), **lengths, blank=4)
    yield make(input=(2, 4, 3, 5), label=label, **lengths, fastemit_lambda=0.25, smooth=False)
    yield make(
        input=(2, 3, 1, 4),
        label=ints((2, 0), 4, 1, "int32"),
        input_lengths=exactly([3, 2], "int32"),
        label_lengths=exactly([0, 0], "int32"),
    )
