"""Measures of predictions in static programs."""

from __future__ import annotations

from typing import Any

from gradtool._arguments import INTEGERS, integer, tensor
from gradtool._dispatch import apply
from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.ir import default


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
