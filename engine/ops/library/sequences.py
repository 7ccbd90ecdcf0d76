"""Sequences of labels: how far apart they are, the best one, and what is left of one without blanks."""

from __future__ import annotations

from functools import partial

from ...core.errors import DtypeError, LabelError, ShapeError, UsageError
from ...core.spec import UNKNOWN, TensorSpec
from ..infer import expect_floating
from ..opdef import Trait, op
from ..refusals import refuse_first, refuse_outside
from ..samples import exactly, ints
from ..writing import combine, put
from .placing import _alike


def _expect_whole(name, **specs):
    for slot, spec in specs.items():
        if spec is not None and not spec.dtype.is_integer:
            raise DtypeError(f"{name}: {slot} must hold whole numbers, but received {spec.dtype.name}.")


def _lengths(lengths, rows, longest, name):
    """Return how many elements of each row count.

    Raises:
        LabelError: there are not so many.
    """
    lengths = lengths.reshape(-1).astype("int64")
    if rows:
        refuse_outside(lengths, 0, longest + 1, partial(_outside, name, longest))
    return lengths


def _outside(name, longest, length):
    return LabelError(f"{name}: (OutOfRange) length {length} is out of range for sequences of {longest}")


def _empty(row):
    return UsageError(f"edit_distance: (InvalidArgument) Reference string {row + 1} is empty.")


# -- distance ---------------------------------------------------------------------------------------------------------


@op(
    "edit_distance",
    "Hyps Refs HypsLength? RefsLength? -> SequenceNum Out",
    attrs={"normalized": False},
    differentiable=False,
)
def edit_distance(k, hyps, refs, hyps_length, refs_length, *, normalized):
    """Number of labels to insert, remove or replace to make each row of *Refs* of that of *Hyps*.

    Divided by the length of the row of *Refs* where *normalized* says so (Levenshtein 1966). And the number of rows.
    """
    xp = k.xp
    rows = len(hyps)
    before = _lengths(hyps_length, rows, hyps.shape[1], "edit_distance: HypsLength")
    behind = _lengths(refs_length, rows, refs.shape[1], "edit_distance: RefsLength")
    if normalized and rows:
        refuse_first(xp.arange(rows), behind == 0, _empty)
    # A row of the table for all pairs at once; `line[:, j]` is the distance to the first j labels of the reference.
    places = xp.arange(refs.shape[1] + 1)
    line = xp.broadcast_to(places, (rows, places.size)).astype("int64")

    def step(state, each):
        line, out = state
        label, i = each
        replaced = line[:, :-1] + (label[:, None] != refs)
        cheapest = xp.concatenate([line[:, :1] + 1, xp.minimum(replaced, line[:, 1:] + 1)], axis=1)
        # What is put in costs one each: the cheapest of all places before, plus the way from there.
        line = xp.minimum.accumulate(cheapest - places, axis=1) + places
        reached = xp.take_along_axis(line, behind[:, None], axis=1)
        return (line, xp.where((before == i + 1)[:, None], reached, out)), before

    out = xp.take_along_axis(line, behind[:, None], axis=1)
    if hyps.shape[1]:
        (_, out), _ = k.scan(step, (line, out), (hyps.T, xp.arange(hyps.shape[1])))
    distance = out.astype("float32")
    return xp.asarray([rows], "int64"), distance / behind[:, None].astype("float32") if normalized else distance


@edit_distance.infer
def _(hyps, refs, hyps_length, refs_length):
    if hyps_length is None or refs_length is None:
        raise UsageError(
            "edit_distance: HypsLength and RefsLength must be given: sequences come padded, a row each",
            hint="their lengths, as in paddle.full([batch], length, 'int64')",
        )
    if hyps.ndim != 2 or refs.ndim != 2 or not _alike(hyps.shape[:1], refs.shape[:1]):
        raise ShapeError(
            f"edit_distance: Hyps {list(hyps.shape)} and Refs {list(refs.shape)} must have 2 dimensions, and as many "
            "rows"
        )
    _expect_whole("edit_distance", Hyps=hyps, Refs=refs, HypsLength=hyps_length, RefsLength=refs_length)
    for slot, spec in (("HypsLength", hyps_length), ("RefsLength", refs_length)):
        if UNKNOWN not in (spec.count, hyps.shape[0]) and spec.count != hyps.shape[0]:
            raise ShapeError(f"edit_distance: {slot} {list(spec.shape)} must have {hyps.shape[0]} elements")
    return TensorSpec((1,), "int64"), TensorSpec((hyps.shape[0], 1), "float32")


# -- the best sequence ------------------------------------------------------------------------------------------------


@op(
    "viterbi_decode",
    "Input Transition Length -> Scores Path",
    attrs={"include_bos_eos_tag": True},
    trait=Trait.VALUES,  # paths are as long as the longest of the lengths
    differentiable=False,
)
def viterbi_decode(k, potentials, transition, lengths, *, include_bos_eos_tag):
    """The sequence of tags with the largest sum of potentials and transitions for each row, and that sum.

    ``Transition[i, j]`` is from tag i to tag j; with *include_bos_eos_tag* its last row leads from the start of a
    sequence, the one before to its end. Paths are as long as the longest of the sequences, with zeros behind their end.
    """
    xp = k.xp
    rows, times, _ = potentials.shape
    lengths = _lengths(lengths, rows, times, "viterbi_decode: Length")
    longest = int(lengths.max()) if rows else 0
    start, stop = (transition[-1], transition[-2]) if include_bos_eos_tag else (0, 0)
    best = potentials[:, 0] + start if times else xp.zeros((rows, potentials.shape[2]), potentials.dtype)
    best = xp.where((lengths == 1)[:, None], best + stop, best)
    came_from = []
    for t in range(1, longest):
        sums = best[:, :, None] + transition
        came_from.append(sums.argmax(axis=1))
        step = sums.max(axis=1) + potentials[:, t]
        step = xp.where((lengths == t + 1)[:, None], step + stop, step)
        best = xp.where((lengths > t)[:, None], step, best)
    tag = best.argmax(axis=1)
    path = xp.zeros((rows, longest), "int64")
    for t in range(longest - 1, -1, -1):
        inside = lengths > t
        path[:, t] = xp.where(inside, tag, 0)
        if t:
            tag = xp.where(inside, xp.take_along_axis(came_from[t - 1], tag[:, None], axis=1)[:, 0], tag)
    return best.max(axis=1).astype(potentials.dtype), path


@viterbi_decode.infer
def _(potentials, transition, lengths, *, include_bos_eos_tag):
    if potentials.ndim != 3 or transition.ndim != 2 or lengths.ndim != 1:
        raise ShapeError(
            f"viterbi_decode: Input {list(potentials.shape)} must have 3 dimensions, Transition "
            f"{list(transition.shape)} 2 and Length {list(lengths.shape)} one"
        )
    tags = potentials.shape[2]
    if not _alike((tags, tags), transition.shape):
        raise ShapeError(
            f"viterbi_decode: The number of tags of Input ({tags}) and Transition {list(transition.shape)} should be "
            "equal."
        )
    if not _alike(potentials.shape[:1], lengths.shape):
        raise ShapeError(f"viterbi_decode: Length {list(lengths.shape)} must have {potentials.shape[0]} elements")
    if tags < (2 if include_bos_eos_tag else 1) and tags != UNKNOWN:
        raise ShapeError(f"viterbi_decode: {tags} tags are too few, with those of start and end among them")
    expect_floating(potentials, "Input", "viterbi_decode")
    if transition.dtype is not potentials.dtype:
        raise DtypeError(
            f"viterbi_decode: Input is {potentials.dtype.name} and Transition is {transition.dtype.name}.",
            hint=f"cast one of them, for example with astype({potentials.dtype.name!r})",
        )
    _expect_whole("viterbi_decode", Length=lengths)
    rows = potentials.shape[0]
    return potentials.replace_shape((rows,)), TensorSpec((rows, UNKNOWN), "int64")


# -- without blanks ---------------------------------------------------------------------------------------------------


@op(
    "ctc_align",
    "Input InputLength? -> Output OutputLength",
    attrs={"blank": 0, "merge_repeated": True, "padding_value": 0},
    differentiable=False,
)
def ctc_align(k, labels, lengths, *, blank, merge_repeated, padding_value):
    """Each row without blanks, of equal neighbours one where *merge_repeated* says so; then *padding_value*."""
    xp = k.xp
    rows, longest = labels.shape
    lengths = _lengths(lengths, rows, longest, "ctc_align: InputLength")
    stays = (labels != blank) & (xp.arange(longest) < lengths[:, None])
    if merge_repeated:
        stays = combine(xp.logical_and, stays, (slice(None), slice(1, None)), labels[:, 1:] != labels[:, :-1])
    counts = stays.sum(axis=1)
    # What goes is put behind the end.
    out = xp.full((rows, longest + 1), padding_value, labels.dtype)
    places = xp.where(stays, xp.cumsum(stays, axis=1) - 1, longest)
    out = put(out, (xp.arange(rows)[:, None], places), labels)[:, :longest]
    return out, counts.astype(labels.dtype).reshape(-1, 1)


@ctc_align.infer
def _(labels, lengths):
    if lengths is None:
        raise UsageError(
            "ctc_align: InputLength must be given: sequences come padded, a row each",
            hint="their lengths, as in paddle.full([batch, 1], length, 'int32')",
        )
    if labels.ndim != 2 or (UNKNOWN not in (labels.shape[0], lengths.count) and lengths.count != labels.shape[0]):
        raise ShapeError(
            f"ctc_align: Input {list(labels.shape)} must have 2 dimensions, and InputLength {list(lengths.shape)} a "
            "number for each row"
        )
    _expect_whole("ctc_align", Input=labels, InputLength=lengths)
    return labels, labels.replace_shape((labels.shape[0], 1))


@edit_distance.samples
def _(make):
    hyps = exactly([[1, 2, 3], [4, 5, 6], [4, 4, 4], [1, 1, 1]], "int64")
    refs = exactly([[1, 3, 4, 4], [4, 5, 8, 1], [7, 7, 7, 7], [1, 1, 1, 2]], "int64")
    lengths = {"hyps_length": exactly([3, 3, 0, 2], "int64"), "refs_length": exactly([4, 3, 4, 1], "int64")}
    yield make(hyps=hyps, refs=refs, **lengths, normalized=True)
    yield make(hyps=hyps, refs=refs, **lengths)
    lengths = {"hyps_length": exactly([7, 5], "int64"), "refs_length": exactly([6, 0], "int64")}
    yield make(hyps=ints((2, 7), 3), refs=ints((2, 6), 3), **lengths)


@viterbi_decode.samples
def _(make):
    yield make(potentials=(3, 4, 5), transition=(5, 5), lengths=exactly([4, 2, 1], "int64"))
    yield make(potentials=(2, 4, 3), transition=(3, 3), lengths=exactly([3, 0], "int64"), include_bos_eos_tag=False)


@ctc_align.samples
def _(make):
    rows = {
        "labels": exactly([[0, 1, 2, 2, 0, 4], [0, 4, 5, 0, 6, 0], [0, 7, 7, 7, 0, 0]], "int32"),
        "lengths": exactly([[6], [5], [4]], "int32"),
    }
    yield make(**rows)
    yield make(**rows, merge_repeated=False, padding_value=9)
