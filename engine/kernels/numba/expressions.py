"""The table of ufuncs that are written as expressions; every other one is computed by NumPy's own inner loop.

Only what is exact is here: IEEE says to the bit what ``+ - * /`` and ``sqrt`` give, and the rest compares, selects or
changes a sign. Nothing is contracted or reordered (no ``fastmath``), so an expression gives NumPy's bits. What is
rounded in some way of its own (``exp``, ``tanh``, ``log``, ``power``, …) is left to the loops that NumPy has for this
CPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .nodes import GroupValue

EXPRESSIONS: dict[str, str] = {
    "add": "{a} + {b}",
    "subtract": "{a} - {b}",
    "multiply": "{a} * {b}",
    "divide": "{a} / {b}",
    "negative": "-{a}",
    "positive": "{a}",
    "square": "{a} * {a}",
    "reciprocal": "{one} / {a}",
    "absolute": "abs({a})",
    "sqrt": "root({a})",
    # Of two that are equal the second one is the result (zeros have signs), and of one that is no number the first.
    "maximum": "choice(({a} > {b}) | ({a} != {a}), {a}, {b})",
    "minimum": "choice(({a} < {b}) | ({a} != {a}), {a}, {b})",
    "greater": "{a} > {b}",
    "greater_equal": "{a} >= {b}",
    "less": "{a} < {b}",
    "less_equal": "{a} <= {b}",
    "equal": "{a} == {b}",
    "not_equal": "{a} != {b}",
    "logical_and": "{a} & {b}",
    "logical_or": "{a} | {b}",
    "logical_not": "not {a}",
    "isnan": "{a} != {a}",
    "isfinite": "({a} - {a}) == {zero}",
    "select": "choice({a}, {b}, {c})",
    "spread": "{a}",
    "hot": "column + j == np.int64({a})",
}
"""``{a}``, ``{b}`` and ``{c}`` are the operands, in one type; ``{one}`` and ``{zero}`` are of the first one's."""

FLOATING = frozenset({"divide", "negative", "reciprocal", "absolute", "sqrt", "isfinite", "isnan"})
"""Those that are expressions of floats alone."""

BOOLEAN = frozenset({"logical_and", "logical_or", "logical_not"})
"""Those that are expressions of truth values alone."""


def inline(node: GroupValue) -> bool:
    """Return whether *node* is an expression, and no call of a loop."""
    if node.op == "cast":
        return True
    if node.op not in EXPRESSIONS:
        return False
    kind = node.args[0].dtype.kind
    if node.op in FLOATING:
        return kind == "f"
    if node.op in BOOLEAN:
        return kind == "b"
    return kind != "b" or node.op in ("select", "spread", "positive")


def literal(number: Any, dtype: np.dtype[Any]) -> str:
    """*number* as an expression of that type."""
    if dtype.kind == "b":
        return "True" if number else "False"
    text = repr(float(number)) if dtype.kind == "f" else repr(int(number))
    text = {"nan": "np.nan", "inf": "np.inf", "-inf": "-np.inf"}.get(text, text)
    return f"np.{dtype.name}({text})"


def expression(node: GroupValue, operands: list[str]) -> str:
    """*node* computed from *operands*, in its type."""
    if node.op == "cast":
        (operand,) = operands
        if node.args[0].dtype.kind == "b":
            return f"choice({operand}, {literal(1, node.dtype)}, {literal(0, node.dtype)})"
        return f"np.{node.dtype.name}({operand})"
    first = node.args[0].dtype
    one, zero = literal(1, first), literal(0, first)
    names = dict(zip("abc", operands, strict=False))
    text = EXPRESSIONS[node.op].format(one=one, zero=zero, **names)
    # Whole numbers of 32 bits would grow.
    return f"np.int32({text})" if node.dtype == np.dtype("int32") and node.op not in ("select", "spread") else text
