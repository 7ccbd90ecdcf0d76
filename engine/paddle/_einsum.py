"""``paddle.einsum``: sums of products in Einstein's notation."""

from __future__ import annotations

import math
import string
from collections import Counter
from itertools import combinations
from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.engine.core.value import AnyTensor

from ._arguments import tensor
from ._dispatch import apply
from ._manipulation import unsqueeze


class EquationError(UsageError, AssertionError):
    """An equation that is not one, or that does not fit the operands (Paddle raises AssertionError)."""


def einsum(equation: str, *operands: Any) -> AnyTensor:
    """The sum of products of elements with equal labels over all labels that the result lacks.

    Args:
        equation: the labels of each operand, separated by commas, then ``->`` and those of the result; without it the
            result has those that come once, in the order of the alphabet. Labels are letters (capitals are the same),
            ``...`` stands for any other dimensions, which are broadcast. Blanks do not count.
        operands: the tensors, also as one list.

    Raises:
        EquationError: an equation that cannot be read or does not fit the operands (a ValueError).
        ShapeError: sizes of one label that differ (a ValueError).

    Three or more operands are multiplied two at a time, in the order that takes the fewest multiplications.

    >>> from gradtool import paddle
    >>> paddle.enable_static()
    >>> x, y = paddle.static.data("x", [5, 2, 3]), paddle.static.data("y", [3, 4])
    >>> paddle.einsum("...ij,jk->...ik", x, y).shape
    (5, 2, 4)
    """
    where = "paddle.einsum"
    if not isinstance(equation, str):
        raise ArgumentTypeError(
            f"The type of 'equation' in {where} must be str, but received {type(equation).__name__}."
        )
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    tensors = [tensor(v, f"operands[{i}]", where) for i, v in enumerate(operands)]
    text = "".join(equation.split()).lower()
    if text.count("->") > 1:
        raise EquationError("Invalid equation: multiple `->` were found.", hint=f"the equation is {equation!r}")
    before, arrow, output = text.partition("->")
    inputs = before.split(",")
    if not tensors or len(inputs) != len(tensors):
        raise EquationError(
            f"Invalid equation: the number of operands is {len(tensors)}, but found {len(inputs)} segments in the "
            "label equation."
        )
    for labels in (*inputs, output):
        _check_labels(labels)
    for labels, v in zip(inputs, tensors, strict=True):
        _check_count(labels, v)
    if not arrow:
        output = _implied(before)
    if "..." in text:
        inputs, output, tensors = _without_ellipsis(inputs, output, tensors)
    return _contract(inputs, output, tensors)


def _check_count(labels: str, v: AnyTensor) -> None:
    """Raise the error for an operand that has not as many dimensions as its labels say."""
    named = len(labels.replace("...", ""))
    if named > v.ndim or (named < v.ndim and "..." not in labels):
        raise EquationError(
            f"Invalid equation: the label string '{labels}' misses dimensions.",
            hint=f"'{v.name}' has {v.ndim} of them: {list(v.shape)}",
        )


def _implied(inputs: str) -> str:
    """The labels of a result that are not stated: those that come once, in the order of the alphabet."""
    every = Counter(inputs.replace("...", "").replace(",", ""))
    dots = "..." if "..." in inputs else ""
    return dots + "".join(sorted(label for label, count in every.items() if count == 1))


def _check_labels(labels: str) -> None:
    rest = labels.replace("...", "", 1)
    if "." in rest:
        raise EquationError("Invalid equation: `.` is found outside of an ellipsis.", hint=f"it is in {labels!r}")
    wrong = [c for c in rest if c not in string.ascii_lowercase]
    if wrong:
        raise EquationError(f"Invalid equation: {wrong[0]} is not a valid label, which should be letters.")


def _without_ellipsis(
    inputs: list[str], output: str, operands: list[AnyTensor]
) -> tuple[list[str], str, list[AnyTensor]]:
    """Letters of their own for the dimensions that ``...`` stands for; shorter operands get dimensions of size 1."""
    counts = [v.ndim - len(s.replace("...", "")) if "..." in s else 0 for s, v in zip(inputs, operands, strict=True)]
    free = [c for c in string.ascii_lowercase if c not in "".join((*inputs, output))]
    if max(counts) > len(free):
        raise EquationError("Invalid equation: there are not enough letters for the dimensions.")
    letters = "".join(free[: max(counts)])
    widened = [
        unsqueeze(v, [s.index("...") + i for i in range(len(letters) - n)]) if "..." in s else v
        for s, v, n in zip(inputs, operands, counts, strict=True)
    ]
    return [s.replace("...", letters) for s in inputs], output.replace("...", letters), widened


def _contract(inputs: list[str], output: str, operands: list[AnyTensor]) -> AnyTensor:
    """The result, by operators of one or two operands."""
    for places in _order(inputs, output, operands) if len(operands) > 2 else [range(len(operands))]:
        taken, values = [inputs[i] for i in places], [operands[i] for i in places]
        inputs = [s for i, s in enumerate(inputs) if i not in places]
        operands = [v for i, v in enumerate(operands) if i not in places]
        term = _kept(taken, inputs, output) if inputs else output
        equation = f"{','.join(taken)}->{term}"
        operands.append(apply("einsum", values, attrs={"equation": equation}))
        inputs.append(term)
    return operands[0]


def _kept(taken: list[str], others: list[str], output: str) -> str:
    """The labels of a product that are needed later, in the order in which they come."""
    needed = set(output).union(*others)
    return "".join(c for c in dict.fromkeys("".join(taken)) if c in needed)


_EXHAUSTIVE = 5
"""Up to so many operands every order is tried; with more, each step is the cheapest one."""


def _order(inputs: list[str], output: str, operands: list[AnyTensor]) -> list[tuple[int, int]]:
    """Return the two operands to multiply in each step (the later one first), whose product then stands at the end."""
    sizes: dict[str, int] = {}
    for labels, v in zip(inputs, operands, strict=True):
        for label, size in zip(labels, v.shape, strict=True):
            sizes[label] = max(sizes.get(label, 1), size)

    def step(terms: list[str], i: int, j: int) -> tuple[int, list[str]]:
        """The number of multiplications and additions of one product, and the labels of all operands after it."""
        rest = [s for n, s in enumerate(terms) if n not in (i, j)]
        term = _kept([terms[j], terms[i]], rest, output)
        every = set(terms[i] + terms[j])
        return math.prod(sizes[c] for c in every) * (1 + (every != set(term))), [*rest, term]

    def best(terms: list[str]) -> tuple[int, list[tuple[int, int]]]:
        if len(terms) == 1:
            return 0, []
        cheapest: tuple[int, list[tuple[int, int]]] | None = None
        pairs = list(combinations(range(len(terms)), 2))
        if len(terms) > _EXHAUSTIVE:
            pairs = [min(pairs, key=lambda p: step(terms, *p)[0])]
        for i, j in pairs:
            cost, after = step(terms, i, j)
            total, later = best(after)
            if cheapest is None or cost + total < cheapest[0]:
                cheapest = cost + total, [(j, i), *later]
        assert cheapest is not None
        return cheapest

    return best(inputs)[1]
