"""Classes to compare with, and sequences of beams."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core import state
from gradtool.engine.core.errors import UsageError
from gradtool.engine.ir import default
from gradtool.paddle._arguments import tensor
from gradtool.paddle._dispatch import apply


def class_center_sample(label: Any, num_classes: int, num_samples: int, group: Any = None) -> tuple[Any, Any]:
    """The classes of a batch and others at random, to compare with instead of all classes (An et al. 2021).

    Args:
        label: ``[batch]``, whole numbers below *num_classes*.
        num_samples: how many classes come out; more if the batch has more.
        group: one process has no others: None or False.

    Returns:
        The labels as places among the classes, and the classes: those of the batch in order, then the others.

    Raises:
        UsageError: more samples than classes, or labels of another form (a ValueError).
    """
    tensor(label, "label", "class_center_sample")
    if group not in (None, False):
        raise UsageError(f"Expected group is False, None: gradtool computes in one process (got group: {group})")
    if num_samples > num_classes:
        raise UsageError(f"Expected num_samples less than or equal to {num_classes}, got num_samples {num_samples}")
    if label.ndim != 1:
        raise UsageError(f"Expected label_dims == 1 (got label_dims: {label.ndim})")
    if label.shape[0] == 0:
        raise UsageError("Expected label_size > 0 (got label_size: 0)")
    seed = default.default_main_program().random_seed if state.in_static_mode() else 0
    attrs = {"num_classes": num_classes, "num_samples": num_samples, "fix_seed": bool(seed), "seed": seed}
    return apply("class_center_sample", label, attrs=attrs)  # type: ignore[no-any-return]


def gather_tree(ids: Any, parents: Any) -> Any:
    """The whole sequence of each beam of a beam search.

    Args:
        ids: what each step chose, ``[steps, batch, beams]``.
        parents: the beam of the step before that it went on from; of the same shape.

    Raises:
        UsageError: other shapes (a ValueError).
    """
    tensor(ids, "ids", "gather_tree", ("int32", "int64"))
    tensor(parents, "parents", "gather_tree", ("int32", "int64"))
    if ids.ndim != 3:
        raise UsageError("The input ids must be a 3D tensor with shape [length, batch_size, beam_size]")
    if ids.ndim != parents.ndim:
        raise UsageError("The ids's shape must be the same as parents' shape. ")
    return apply("gather_tree", ids, parents)
