"""How two answers to one program differ."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

TOLERANCES = {"float16": 1e-2, "float32": 1e-4, "complex64": 1e-4, "float64": 1e-6, "complex128": 1e-6}
SHOWN = 12
"""Elements of an array that a difference shows."""
SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.USub: "-", ast.UAdd: "+", ast.Invert: "~",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip


@dataclass(frozen=True)
class Difference:
    """What differs first: the kind, the function that is blamed, where, and both sides in a few words."""

    kind: str
    function: str
    where: str
    ours: str
    theirs: str

    @property
    def class_(self) -> tuple[str, str]:
        return self.kind, self.function


def difference(text: str, ours: dict[str, Any], theirs: dict[str, Any]) -> Difference | None:
    """The first difference, or None. Values come before gradients, and those before the names of a program."""
    stopped = compared_refusals(ours, theirs)
    if stopped is not None:
        kind, at = stopped
        blamed = function(line_at(text, at))
        return Difference(kind, blamed, str(at), said(ours["refused"]), said(theirs["refused"]))
    if ours["refused"] and "static" in text[:10]:
        return None
    for part in ("declared", "values", "grads"):
        gap = first(ours.get(part, {}), theirs.get(part, {}), loose=text.count("\nv") > 1)
        if gap is not None and not (ours["refused"] and part == "grads"):
            kind, name, a, b = gap
            return Difference(f"{part} {kind}", function(line_of(text, name, part)), name, a, b)
    return of_programs(text, ours, theirs)


def of_programs(text: str, ours: dict[str, Any], theirs: dict[str, Any]) -> Difference | None:
    """The first operator of two programs that differs, and the line that appended it."""
    mine, other = ours.get("ops", []), theirs.get("ops", [])
    for index, (a, b) in enumerate(zip_longest(mine, other, fillvalue="none")):
        if a != b:
            kind = "operators" if a.split()[0] != b.split()[0] else "names"
            return Difference(kind, function(line_of_operator(text, index, ours, theirs)), "", a, b)
    return None


def line_of_operator(text: str, index: int, *answers: dict[str, Any]) -> str:
    """The line that appended the operator of a number on one of the sides, the earlier one; the last call else."""
    after = [next((i for i, n in enumerate(a.get("built", [])) if n > index), None) for a in answers]
    lines = [i for i in after if i is not None]
    return text.splitlines()[1:][min(lines)] if lines else last_call(text)


def compared_refusals(ours: dict[str, Any], theirs: dict[str, Any]) -> tuple[str, Any] | None:
    """Which side alone refuses, and where; None where both do, or none."""
    mine, other = ours["refused"], theirs["refused"]
    if mine is None and other is None:
        return None
    if mine is None:
        return "accepted", other["at"]
    if other is None:
        return "refused", mine["at"]
    static = "ops" in ours or "ops" in theirs
    if static or mine["at"] == other["at"]:
        return None
    return "refused elsewhere", mine["at"]


def said(refusal: dict[str, Any] | None) -> str:
    return "computes" if refusal is None else f"{refusal['class']}: {refusal['message']}".replace("\n", " ")


def first(ours: dict[str, Any], theirs: dict[str, Any], loose: bool) -> tuple[str, str, str, str] | None:
    for name in [*theirs, *(n for n in ours if n not in theirs)]:
        if name not in ours or name not in theirs:
            return "names", name, str(name in ours), str(name in theirs)
        gap = of_values(ours[name], theirs[name], loose)
        if gap:
            return gap, name, *map(brief, told_apart(ours[name], theirs[name]))
    return None


def told_apart(a: Any, b: Any) -> tuple[Any, Any]:
    """Two told values; of long arrays the elements that differ."""
    both = isinstance(a, dict) and isinstance(b, dict) and len(a.get("values", ())) == len(b.get("values", ()))
    if not both or len(a.get("values", ())) <= SHOWN:
        return a, b
    x, y = np.array(a["values"], float), np.array(b["values"], float)
    places = np.flatnonzero(~np.isclose(x, y, rtol=1e-3, atol=1e-6, equal_nan=True))
    return tuple(v | {"values": [v["values"][i] for i in places] or v["values"]} for v in (a, b))  # type: ignore[return-value]


def brief(value: Any) -> str:
    if isinstance(value, dict) and "values" in value:
        return f"{value['dtype']}{value['shape']} {value['values'][:SHOWN]}{' stop' if value.get('stop') else ''}"
    return str(value)[:300]


def of_values(a: Any, b: Any, loose: bool) -> str:
    """One word for how two told values differ; empty where they do not."""
    if not isinstance(a, dict) or not isinstance(b, dict):
        if a == b:
            return ""
        return "presence" if a is None or b is None else "declaration"
    if "items" in a and "items" in b:
        if a["is"] != b["is"] or len(a["items"]) != len(b["items"]):
            return "structure"
        return next(filter(None, (of_values(x, y, loose) for x, y in zip(a["items"], b["items"], strict=True))), "")
    if "values" in a and "values" in b:
        return of_arrays(a, b, loose)
    if a.get("is") != b.get("is"):
        return "structure"
    x, y = a.get("value"), b.get("value")
    if isinstance(x, float) and isinstance(y, float):
        return "" if np.isclose(x, y, rtol=1e-5, equal_nan=True) else "value"
    return "" if x == y else "value"


def of_arrays(a: dict[str, Any], b: dict[str, Any], loose: bool) -> str:
    for key, word in (("dtype", "dtype"), ("shape", "shape"), ("stop", "stop_gradient")):
        if a.get(key) != b.get(key):
            return word
    x, y = np.array(a["values"], float), np.array(b["values"], float)
    finite, other = np.isfinite(x), np.isfinite(y)
    if (finite & ~other).any():
        return "not finite in Paddle"
    if (other & ~finite).any():
        return "finite in Paddle"
    if any((special(x) != special(y)).any() for special in (np.isnan, np.isposinf)):
        return "nan or infinity"
    x, y = x[finite], y[finite]
    if not x.size:
        return ""
    relative = TOLERANCES.get(a["dtype"], 0.0) * (20 if loose else 1)
    largest = float(np.abs(y).max())
    return "" if np.allclose(x, y, rtol=relative, atol=relative * largest * 0.1 + relative * 1e-2) else "value"


# Which function a line calls.


def line_at(text: str, at: Any) -> str:
    lines = text.splitlines()[1:]
    return lines[at] if isinstance(at, int) else last_call(text)


def line_of(text: str, name: str, part: str) -> str:
    """The line that made a value; of a gradient the last call."""
    base = name.split(".")[0]
    if part == "grads" or base.endswith("@"):
        return last_call(text)
    return next((line for line in text.splitlines() if line.startswith(f"{base} = ")), last_call(text))


def last_call(text: str) -> str:
    lines = [line for line in text.splitlines()[1:] if re.match(r"(v\d+ = )", line)]
    return lines[-1] if lines else ""


def function(line: str) -> str:
    """The name of the function, method or sign that a line applies last."""
    expression = line.partition(" = ")[2] or line
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except SyntaxError:
        return "statement"
    return of_tree(tree)


def of_tree(tree: ast.AST) -> str:
    if isinstance(tree, ast.Call):
        name = ast.unparse(tree.func)
        if name == "filled" or name == "train":
            return of_tree(tree.args[0])
        if isinstance(tree.func, ast.Attribute):
            return name.removeprefix("paddle.") if name.startswith("paddle.") else tree.func.attr
        return "layer call" if re.fullmatch(r"l\d+", name) else name
    if isinstance(tree, (ast.BinOp, ast.UnaryOp)):
        return SIGNS.get(type(tree.op), "?")
    if isinstance(tree, ast.Compare):
        return SIGNS.get(type(tree.ops[0]), "?")
    return {ast.Subscript: "[]", ast.List: "in place", ast.Attribute: "attribute"}.get(type(tree), type(tree).__name__)
