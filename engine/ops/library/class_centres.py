"""Classes drawn at random around those that a batch has."""

from __future__ import annotations

from ...core.errors import DtypeError, OperatorError, ShapeError
from ...core.spec import UNKNOWN
from ..opdef import Trait, op
from ..samples import exactly

ATTRS = {
    "num_classes": 0,
    "num_samples": 0,
    "ring_id": 0,
    "rank": 0,
    "nranks": 1,
    "fix_seed": False,
    "seed": 0,
}


@op(
    "class_center_sample",
    "Label -> RemappedLabel SampledLocalClassCenter",
    attrs=ATTRS,
    trait=Trait.RANDOM | Trait.VALUES,  # there are as many centres as classes in the batch, or more
    differentiable=False,
)
def class_center_sample(k, label, *, num_classes, num_samples, fix_seed, seed, **attrs):
    """The classes of a batch in order, then others at random up to ``num_samples``; and labels as places among them.

    Where the batch has more classes than that, all of them are returned and no others.
    """
    xp = k.xp
    present, places = xp.unique(label, return_inverse=True)
    if present.size and not 0 <= int(present[0]) <= int(present[-1]) < num_classes:
        raise OperatorError(
            f"class_center_sample: labels lie from 0 to {num_classes - 1}, but Label has {int(present[0])} to "
            f"{int(present[-1])}"
        )
    missing = max(num_samples - present.size, 0)
    others = xp.setdiff1d(xp.arange(num_classes, dtype=label.dtype), present)
    order = k.draws(seed if fix_seed else 0).host().permutation(others.size)[:missing]
    return places.reshape(label.shape).astype(label.dtype), xp.concatenate([present, others[xp.asarray(order)]])


@class_center_sample.infer
def _(label, *, num_classes, num_samples, nranks, **attrs):
    if label.ndim != 1:
        raise ShapeError(f"class_center_sample: Label {list(label.shape)} must have one dimension")
    if label.dtype.name not in ("int32", "int64"):
        raise DtypeError(f"class_center_sample: Label must be int32 or int64, but is {label.dtype.name}")
    if num_samples > num_classes:
        raise OperatorError(f"class_center_sample: num_samples {num_samples} exceeds num_classes {num_classes}")
    if nranks != 1:
        raise OperatorError("class_center_sample: gradtool computes in one process, and nranks must be 1")
    return label, label.replace_shape((UNKNOWN,))


@class_center_sample.samples
def _(make):
    yield make(label=exactly([3, 7, 3, 9]), num_classes=20, num_samples=3)
    yield make(label=exactly([3, 7, 3, 9]), num_classes=20, num_samples=6, fix_seed=True, seed=5)
    yield make(label=exactly([3, 7, 0], "int32"), num_classes=8, num_samples=4, fix_seed=True, seed=5)
