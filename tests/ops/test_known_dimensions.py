"""A dimension that one operand knows is known of the result, whichever operand that is."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from gradtool.engine.core.spec import TensorSpec, float32
from gradtool.engine.ops.registry import get_by_type

CALLS: dict[str, tuple[list[Any], dict[str, Any], list[int]]] = {
    "stack": ([[-1, 3], [2, -1], [-1, -1]], {"axis": 0}, [3, 2, 3]),
    "stack in the middle": ([[-1, 3], [2, -1]], {"axis": 1}, [2, 2, 3]),
    "concat": ([[1, -1], [2, 4], [3, -1]], {"axis": 0}, [6, 4]),
    "concat of an unknown number": ([[-1, 4], [2, -1]], {"axis": 0}, [-1, 4]),
}
"""Operator and what is meant -> shapes in its list, attributes, the shape of the result."""


@pytest.mark.parametrize("name", CALLS)
def test_lists(name: str) -> None:
    shapes, attrs, expected = CALLS[name]
    op = get_by_type(name.partition(" ")[0])
    for some in itertools.permutations(shapes):
        specs = [TensorSpec(tuple(s), float32) for s in some]
        results = op.infer_specs([specs, *[None] * (len(op.inputs) - 1)], op.attributes(attrs))
        assert list(results[0].shape) == expected


EQUATIONS: dict[str, tuple[list[list[int]], list[int]]] = {
    "ij,jk->ijk": ([[-1, 3], [3, 4]], [-1, 3, 4]),
    "ij,ij->ij": ([[-1, 3], [2, -1]], [2, 3]),
    "ij,ij->ji": ([[1, -1], [-1, 1]], [-1, -1]),
    "i,i,i->i": ([[1], [5], [-1]], [5]),
}
"""Equation -> shapes and the shape of the result; 1 may be repeated."""


@pytest.mark.parametrize("equation", EQUATIONS)
def test_labels_of_einsum(equation: str) -> None:
    shapes, expected = EQUATIONS[equation]
    op = get_by_type("einsum")
    orders = itertools.permutations(shapes) if len(set(equation.partition("->")[0].split(","))) == 1 else [shapes]
    for some in orders:
        specs = [TensorSpec(tuple(s), float32) for s in some]
        assert list(op.infer_specs([specs], {"equation": equation})[0].shape) == expected
