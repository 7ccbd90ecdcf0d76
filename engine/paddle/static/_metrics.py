"""Measures of predictions in static programs."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core import state
from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.ir import default
from gradtool.paddle import _creation, _parameters
from gradtool.paddle._arguments import INTEGERS, integer, tensor
from gradtool.paddle._dispatch import apply
from gradtool.paddle.nn import initializer


def accuracy(input: Any, label: Any, k: int = 1, correct: Any = None, total: Any = None) -> AnyTensor:
    """The share of rows whose label is among the *k* classes with the largest values.

    Args:
        input: ``[rows, classes]``; probabilities, or anything in their order.
        label: ``[rows, 1]``, whole numbers.
        correct, total: variables to write the number of such rows and of all rows to.

    Raises:
        UsageError: *input* is no matrix (a ValueError).
    """
    where = "paddle.static.accuracy"
    input, label = tensor(input, "input", where), tensor(label, "label", where, INTEGERS)
    if input.ndim != 2:
        raise UsageError(f"{where}: input must have the shape [rows, classes], but is {list(input.shape)}.")
    layer = default.default_main_program().names("accuracy")
    attrs = {"k": integer(k, "k", where), "sorted": False}
    values, indices = apply("top_k_v2", input, None, attrs=attrs, name=layer)
    slots = {n: tensor(v, n.lower(), where) for n, v in (("Correct", correct), ("Total", total)) if v is not None}
    return apply("accuracy", values, indices, label, name=layer, outputs=slots)[0]  # type: ignore[no-any-return]


def auc(
    input: Any,
    label: Any,
    curve: str = "ROC",
    num_thresholds: int = 2**12 - 1,
    topk: int = 1,
    slide_steps: int = 1,
    ins_tag_weight: Any = None,
) -> tuple[AnyTensor, AnyTensor, list[AnyTensor]]:
    """The area under the curve of true against false positives, over all batches and over the last ones.

    Args:
        input: ``[rows, 2]``, probabilities of the two classes.
        label: ``[rows, 1]``, 0 or 1.
        curve: ``'ROC'``; Paddle computes nothing else, whatever this says.
        num_thresholds: how many thresholds stand between 0 and 1.
        topk, ins_tag_weight: without influence, as in Paddle.
        slide_steps: how many batches the second area takes in; 0 for all.

    Returns:
        The area over all batches, the one over the last *slide_steps*, and the four variables with the counts: of
        positives and negatives of the last batches, and of all.

    Raises:
        UsageError: another *curve*, or *input* is no matrix (a ValueError).

    >>> from gradtool import paddle
    >>> paddle.enable_static()
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     p, y = paddle.static.data("p", [-1, 2]), paddle.static.data("y", [-1, 1], "int64")
    ...     area, of_batch, counts = paddle.static.auc(p, y)
    >>> area.name, len(counts)
    ('auc_0.tmp_0', 4)
    """
    where = "paddle.static.auc"
    state.require_static(where)
    input, label = tensor(input, "input", where, ("float32", "float64")), tensor(label, "label", where, INTEGERS)
    if curve != "ROC":
        raise UsageError(
            f"{where}: curve must be 'ROC', but is {curve!r}.",
            hint="Paddle takes 'PR' and computes the area under the ROC curve all the same",
        )
    if input.ndim != 2:
        raise UsageError(f"{where}: input must have the shape [rows, 2], but is {list(input.shape)}.")
    names = default.default_main_program().names
    if ins_tag_weight is None:
        _creation.full([1, 1], 1.0, "float32")  # Paddle's program has it, and nobody reads it there either
    layer = names("auc")
    areas = [names(f"{layer}.tmp") for _ in range(2)]
    width = integer(num_thresholds, "num_thresholds", where) + 1
    stats = _counts([(slide_steps + 1) * width + 1] if slide_steps else [width]), _counts([1, width])
    for area, (positive, negative), steps in zip(areas[::-1], stats, (slide_steps, 0), strict=True):
        apply(
            "auc",
            input,
            label,
            positive,
            negative,
            None,
            attrs={"curve": curve, "num_thresholds": num_thresholds, "slide_steps": steps},
            name=layer,
            outputs={"AUC": area, "StatPosOut": positive, "StatNegOut": negative},
        )
    block = default.current_block()
    return block.var(areas[0]), block.var(areas[1]), [*stats[0], *stats[1]]


def _counts(shape: list[int]) -> tuple[Any, Any]:
    """Two persistable variables of zeros."""
    block = default.default_main_program().global_block()
    pair = [block.create_var(None, tuple(shape), "int64", persistable=True) for _ in range(2)]
    for variable in pair:
        _parameters.initialise(variable.name, variable.spec, initializer.Constant(0.0))
    return pair[0], pair[1]
