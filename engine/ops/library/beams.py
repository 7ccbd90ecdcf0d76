"""Sequences that a beam search found, read back from its steps."""

from __future__ import annotations

from ...core.errors import DtypeError, ShapeError
from ...core.spec import UNKNOWN
from ..opdef import op
from ..samples import exactly, ints
from ..writing import put


@op("gather_tree", "Ids Parents -> Out", differentiable=False)
def gather_tree(k, ids, parents):
    """The whole sequence of each beam, ``[steps, batch, beams]``, followed from its last step back by its parents."""
    xp = k.xp
    out = xp.zeros(ids.shape, ids.dtype)
    beams = xp.broadcast_to(xp.arange(ids.shape[2], dtype=xp.int64), ids.shape[1:])
    for step in range(ids.shape[0] - 1, -1, -1):
        out = put(out, step, xp.take_along_axis(ids[step], beams, 1))
        beams = xp.take_along_axis(parents[step].astype(xp.int64), beams, 1)
    return out


@gather_tree.infer
def _(ids, parents):
    for slot, spec in (("Ids", ids), ("Parents", parents)):
        if spec.ndim != 3:
            raise ShapeError(f"gather_tree: {slot} {list(spec.shape)} must be [length, batch_size, beam_size]")
        if spec.dtype.name not in ("int32", "int64"):
            raise DtypeError(f"gather_tree: {slot} must be int32 or int64, but is {spec.dtype.name}")
    if any(a != b and UNKNOWN not in (a, b) for a, b in zip(ids.shape, parents.shape, strict=True)):
        raise ShapeError(
            f"gather_tree: Ids {list(ids.shape)} and Parents {list(parents.shape)} must have the same shape"
        )
    return ids


@gather_tree.samples
def _(make):
    yield make(ids=ints((4, 2, 3), 9), parents=ints((4, 2, 3), 3))
    yield make(ids=exactly([[[2, 2]], [[3, 9]], [[0, 1]]]), parents=exactly([[[0, 0]], [[1, 0]], [[0, 0]]]))
    yield make(ids=ints((0, 2, 3), 9), parents=ints((0, 2, 3), 3))
