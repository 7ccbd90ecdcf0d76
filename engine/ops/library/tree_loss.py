"""A loss of very many classes that stand in a tree (Morin and Bengio 2005)."""

from __future__ import annotations

from functools import partial

from ...core.errors import LabelError, OperatorError, ShapeError
from ...core.spec import UNKNOWN
from ..opdef import Late, Like, Trait, op
from ..refusals import refuse_outside
from ..samples import exactly
from .noise import nce_bias, nce_dots
from .placing import _alike

LIMIT = 40.0
"""Scores count up to this size."""


def _steps(classes):
    """Return the number of turns of the longest way."""
    return (2 * classes - 1).bit_length() - 1


def _no_class(count, label):
    return LabelError(f"hierarchical_sigmoid: label {label} is out of range for {count} classes")


def _no_node(rows, node):
    return LabelError(f"hierarchical_sigmoid: node {node} is out of range for {rows} rows of W")


@op(
    "tree_ways",
    "Y Label PathTable? PathCode? -> Nodes Turns There",
    attrs={"num_classes": 2},
    trait=Trait.INTERNAL,
    differentiable=False,
)
def tree_ways(k, like, label, table, code, *, num_classes):
    """The nodes on the way to each label, which way is taken there, and whether the way is that long.

    Without a table the tree is complete and numbered like a heap, from 1 at the root, with the classes as its leaves.
    Nodes behind the end are 0; the others are numbers of the type of *like*.
    """
    if table is None:
        refuse_outside(label, 0, num_classes, partial(_no_class, num_classes))
        leaf = label.reshape(-1, 1) + num_classes
        steps = k.xp.arange(_steps(num_classes))
        table, code = (leaf >> (steps + 1)) - 1, (leaf >> steps) & 1
    there = (table >= 0).astype(like.dtype)
    return k.xp.maximum(table, 0), code.astype(like.dtype) * there, there


@op(
    "hierarchical_sigmoid",
    "X W Label PathTable? PathCode? Bias? -> Out PreOut",
    attrs={"num_classes": 2, "is_sparse": False},
)
def hierarchical_sigmoid(k, x, w, label, table, code, bias, *, num_classes):
    """Minus the logarithm of the probability of each label, as a way down a tree.

    Without a table the tree is binary and complete. A way that is shorter than the longest one adds ``log(2)`` for
    every step that it lacks, as in Paddle. PreOut holds the logarithm of one plus the exponential of each score.
    """
    xp = k.xp
    nodes, turns, there = tree_ways.kernel(k, x, label, table, code, num_classes=num_classes)
    refuse_outside(nodes, 0, len(w), partial(_no_node, len(w)))
    scores = nce_dots.kernel(k, x, w, nodes)
    if bias is not None:
        scores = scores + nce_bias.kernel(k, bias, nodes)
    # What lies behind the end of a way has a score of 0; NaN there is none of its business.
    scores = xp.clip(xp.where(there != 0, scores, 0), -LIMIT, LIMIT).astype(x.dtype)
    waged = xp.logaddexp(xp.zeros((), x.dtype), scores).astype(x.dtype)
    return (waged - turns * scores).sum(axis=1, keepdims=True), waged


@hierarchical_sigmoid.infer
def _(x, w, label, table, code, bias, *, num_classes):
    if (table is None) != (code is None):
        raise OperatorError("hierarchical_sigmoid: PathTable and PathCode go together")
    if table is None and num_classes < 2:
        raise OperatorError(f"hierarchical_sigmoid: num_classes must be at least 2, but is {num_classes}")
    fits = table is None or (_alike(table.shape, code.shape) and _alike(table.shape[:1], x.shape[:1]))
    if not fits or (table is not None and table.ndim != 2):
        raise ShapeError(
            f"hierarchical_sigmoid: PathTable {list(table.shape)} and PathCode {list(code.shape)} must have a row for "
            f"each of X {list(x.shape)}"
        )
    if x.ndim != 2 or w.ndim != 2 or not _alike(x.shape[1:], w.shape[1:]):
        raise ShapeError(
            f"hierarchical_sigmoid: X {list(x.shape)} and W {list(w.shape)} must be matrices with as many columns"
        )
    if UNKNOWN not in (label.count, x.shape[0]) and label.count != x.shape[0]:
        raise ShapeError(f"hierarchical_sigmoid: Label {list(label.shape)} must have {x.shape[0]} elements")
    if bias is not None and UNKNOWN not in (bias.count, w.shape[0]) and bias.count != w.shape[0]:
        raise ShapeError(f"hierarchical_sigmoid: Bias {list(bias.shape)} must have {w.shape[0]} elements")
    steps = _steps(num_classes) if table is None else table.shape[1]
    return x.replace_shape((x.shape[0], 1)), x.replace_shape((x.shape[0], steps))


@hierarchical_sigmoid.gradient(wrt="X W Bias")
def _(k, x, w, label, table, code, bias: Like, preout, dout, dpreout: Late, *, num_classes):
    nodes, turns, there = k.tree_ways(x, label, table, code, num_classes=num_classes)
    share = (1 - k.exp(-preout)) * there
    slope = dout * (share - turns)
    slope = slope if dpreout is None else slope + dpreout * share
    return (
        lambda: k.nce_mix(slope, w, nodes),
        lambda: k.nce_spread(x, slope, nodes, w),
        None if bias is None else lambda: k.nce_total(slope, nodes, bias),
    )


@hierarchical_sigmoid.samples
def _(make):
    label = exactly([[0], [1], [4], [5]], "int64")
    yield make(x=(4, 3), w=(5, 3), label=label, bias=(5, 1), num_classes=6)
    table, code = exactly([[0, 1, -1], [0, 2, 3]], "int64"), exactly([[1, 0, -1], [0, 1, 1]], "int64")
    yield make(x=(2, 3), w=(4, 3), label=exactly([[0], [1]], "int64"), table=table, code=code)
