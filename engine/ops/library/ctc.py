"""The probability that frames spell a sequence, added up over all alignments (CTC, Graves et al. 2006).

Everything is reckoned in double precision, in logarithms; ``lattice`` says how derivatives of the slope are found.
"""

from __future__ import annotations

from ...core.errors import DtypeError, ShapeError
from ...core.spec import UNKNOWN
from ..opdef import Trait, op
from ..samples import exactly, ints
from ..writing import add_at, put
from .lattice import FAR, derivative, softmax, sum_of


def _lengths(xp, lengths, count, every):
    return xp.full((count,), every, xp.int64) if lengths is None else lengths.reshape(-1).astype(xp.int64)


class _Paths:
    """The ways through blanks and labels: ``blank l1 blank l2 … blank`` for each sequence of the batch."""

    def __init__(self, k, logits, label, frames, lengths, blank):
        self.k, self.xp = k, k.xp
        xp = k.xp
        self.times, batch, _ = logits.shape
        self.frames = _lengths(xp, frames, batch, self.times)
        self.lengths = _lengths(xp, lengths, batch, label.shape[1])
        states = 2 * label.shape[1] + 1
        spelt = xp.arange(label.shape[1]) < self.lengths[:, None]
        blanks = xp.full((batch, states), blank, xp.int64)
        self.states = put(blanks, (slice(None), slice(1, None, 2)), xp.where(spelt, label.reshape((batch, -1)), blank))
        # A blank between two labels may be left out unless they are the same.
        other = self.states[:, 2:] != self.states[:, :-2]
        skips = other & (self.states[:, 2:] != blank)
        self.skips = put(xp.zeros((batch, states), bool), (slice(None), slice(2, None)), skips)
        self.ends = xp.arange(states) == 2 * self.lengths[:, None]
        self.ends |= xp.arange(states) == 2 * self.lengths[:, None] - 1
        shares, self.shares = softmax(xp, logits)
        self.emitted = xp.take_along_axis(shares, xp.broadcast_to(self.states, (self.times, *self.states.shape)), 2)

    def _back(self, values, by):
        """*values* of the state *by* before each."""
        out = self.xp.full(values.shape, FAR, values.dtype)
        return put(out, (slice(None), slice(by, None)), values[:, :-by])

    def _ahead(self, values, by):
        out = self.xp.full(values.shape, FAR, values.dtype)
        return put(out, (slice(None), slice(-by)), values[:, by:])

    def forwards(self):
        """For every frame and state, the logarithm of the probability of the ways that lead there."""
        xp = self.xp
        first = xp.full(self.states.shape, FAR, self.emitted.dtype)
        first = put(first, (slice(None), slice(2)), self.emitted[0, :, :2])
        first = put(first, (slice(None), slice(1, 2)), xp.where(self.lengths[:, None] > 0, first[:, 1:2], FAR))
        if self.times == 1:
            return first[None]

        def step(before, each):
            (emitted,) = each
            skipped = xp.where(self.skips, self._back(before, 2), FAR)
            reached = emitted + sum_of(xp, xp.stack([before, self._back(before, 1), skipped]))
            return reached, reached

        return xp.concatenate([first[None], self.k.scan(step, first, (self.emitted[1:],))[1]])

    def backwards(self):
        """For every frame and state, the logarithm of the probability of the ways that go on from there."""
        xp = self.xp
        last = xp.where(self.ends, 0.0, FAR).astype(self.emitted.dtype)
        closes = (xp.arange(self.times)[:, None] == self.frames - 1)[:, :, None]

        def step(after, each):
            emitted, closing = each
            after = xp.where(closing, last, after)
            going = after + emitted
            skipped = self._ahead(xp.where(self.skips, going, FAR), 2)
            return sum_of(xp, xp.stack([going, self._ahead(going, 1), skipped])), after

        nothing = xp.full(self.states.shape, FAR, self.emitted.dtype)
        return self.k.scan(step, nothing, (self.emitted, closes), reverse=True)[1]

    def total(self, alpha):
        """The logarithm of the probability of each sequence, and whether it can be spelt at all."""
        xp = self.xp
        at = xp.clip(self.frames - 1, 0, None)
        reached = xp.where(self.ends, alpha[at, xp.arange(at.size)], FAR)
        total = sum_of(xp, reached.T)
        possible = ~(total.real < FAR / 2) & (self.frames > 0)
        return xp.where(possible, total, 0.0), possible


def _slope(k, logits, label, frames, lengths, blank, norm_by_times):
    """The derivative of each sequence's loss by its logits; 0 where it cannot be spelt, and behind its end."""
    xp = k.xp
    paths = _Paths(k, logits, label, frames, lengths, blank)
    alpha, beta = paths.forwards(), paths.backwards()
    total, possible = paths.total(alpha)
    ways = xp.exp(alpha + beta - total[:, None])
    slope = paths.shares.copy()
    times, batch = ways.shape[:2]
    rows, columns = xp.arange(times)[:, None, None], xp.arange(batch)[None, :, None]
    slope = add_at(slope, (rows, columns, xp.broadcast_to(paths.states, ways.shape)), -ways)
    inside = possible & (xp.arange(times)[:, None] < paths.frames)
    slope = xp.where(inside[:, :, None], slope, 0.0)
    if norm_by_times:
        slope = slope / xp.clip(paths.frames, 1, None)[:, None]
    return slope


@op("warpctc", "Logits Label LogitsLength? LabelLength? -> Loss", attrs={"blank": 0, "norm_by_times": False})
def warpctc(k, logits, label, logits_length, label_length, *, blank, norm_by_times):
    """Minus the logarithm of the probability that frames spell each label.

    Logits are ``[time, batch, classes]``, labels ``[batch, length]``. The loss of a label that is
    too long for its frames is 0. ``norm_by_times`` divides the gradient, and not the loss, by the number of frames.
    """
    xp = k.xp
    if not logits.shape[0]:
        return xp.zeros((logits.shape[1], 1), logits.dtype)
    paths = _Paths(k, logits.astype(xp.float64), label, logits_length, label_length, blank)
    total, _ = paths.total(paths.forwards())
    return (-total).astype(logits.dtype)[:, None]


@warpctc.infer
def _(logits, label, logits_length, label_length, *, blank):
    if logits.ndim != 3 or label.ndim != 2:
        raise ShapeError(
            f"warpctc: Logits {list(logits.shape)} must be [time, batch, classes], and Label {list(label.shape)} "
            "[batch, length]"
        )
    for slot, spec in (("Label", label), ("LogitsLength", logits_length), ("LabelLength", label_length)):
        if spec is not None and not spec.dtype.is_integer:
            raise DtypeError(f"warpctc: {slot} must be of a whole-number type, but is {spec.dtype.name}")
    batch = logits.shape[1]
    for slot, spec in (("Label", label), ("LogitsLength", logits_length), ("LabelLength", label_length)):
        if spec is not None and spec.shape[0] != batch and UNKNOWN not in (spec.shape[0], batch):
            raise ShapeError(f"warpctc: the batch is {batch}, but {slot} is {list(spec.shape)}")
    if blank < 0 or (logits.shape[2] != UNKNOWN and blank >= logits.shape[2]):
        raise ShapeError(f"warpctc: blank must be one of the {logits.shape[2]} classes, not {blank}")
    return logits.replace_shape((batch, 1))


@warpctc.gradient(wrt="Logits")
def _(k, logits, label, logits_length, label_length, dloss, *, blank, norm_by_times):
    slope = k.ctc_slope(logits, label, logits_length, label_length, blank=blank, norm_by_times=norm_by_times)
    return slope * dloss


ATTRS = {"blank": 0, "norm_by_times": False}


@op("ctc_slope", "Logits Label LogitsLength? LabelLength? -> Out", attrs=ATTRS, trait=Trait.INTERNAL)
def ctc_slope(k, logits, label, logits_length, label_length, *, blank, norm_by_times):
    """The derivative of each sequence's loss by its logits."""
    xp = k.xp
    if not logits.size:
        return xp.zeros(logits.shape, logits.dtype)
    slope = _slope(k, logits.astype(xp.float64), label, logits_length, label_length, blank, norm_by_times)
    return slope.astype(logits.dtype)


@ctc_slope.gradient(wrt="Logits")
def _(k, logits, label, logits_length, label_length, dout, *, blank, norm_by_times):
    return k.ctc_curve(logits, [dout], label, logits_length, label_length, blank=blank, norm_by_times=norm_by_times)


@op("ctc_curve", "Logits Along* Label LogitsLength? LabelLength? -> Out", attrs=ATTRS, trait=Trait.INTERNAL)
def ctc_curve(k, logits, along, label, logits_length, label_length, *, blank, norm_by_times):
    """The derivative of ``ctc_slope`` in all of the directions *along*."""
    xp = k.xp
    if not logits.size:
        return xp.zeros(logits.shape, logits.dtype)

    def slope(point):
        return _slope(k, point, label, logits_length, label_length, blank, norm_by_times)

    directions = [v.astype(xp.float64) for v in along]
    return derivative(xp, slope, logits.astype(xp.float64), directions, logits.shape[0]).astype(logits.dtype)


@ctc_curve.gradient(wrt="Logits Along")
def _(k, logits, along, label, logits_length, label_length, dout, *, blank, norm_by_times):
    # Derivatives are the same in whatever order of the directions and of what they are taken of.
    def curve(directions):
        return k.ctc_curve(
            logits, directions, label, logits_length, label_length, blank=blank, norm_by_times=norm_by_times
        )

    return (
        lambda: curve([*along, dout]),
        lambda: [curve([*along[:i], *along[i + 1 :], dout]) for i in range(len(along))],
    )


@warpctc.samples
def _(make):
    lengths = {"logits_length": exactly([5, 4, 3]), "label_length": exactly([3, 1, 2])}
    label = exactly([[1, 2, 2], [3, 0, 0], [1, 1, 0]], "int32")
    yield make(logits=(5, 3, 4), label=label, **lengths)
    yield make(logits=(5, 3, 4), label=exactly([[1, 2, 2], [0, 0, 0], [1, 0, 0]], "int32"), **lengths, blank=3)
    yield make(logits=(4, 2, 3), label=ints((2, 2), 3, 1, "int32"))
    yield make(logits=(2, 1, 3), label=ints((1, 4), 3, 1, "int32"))
