"""Write ``second_names.json``: which second names Paddle's functions take for their arguments.

Run with an interpreter that has Paddle 3.3.1: ``python tests/paddle/record_second_names.py``. Calls of the tables, and
those of ``calls_by_name.txt``, are made with each argument under its own name and under names that other packages have
for it; those that give the same are written down, with the call.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from tests.paddle_values import operands  # noqa: E402
from tests.paddle_values.calls import CALLS  # noqa: E402
from tests.types import calls as types  # noqa: E402

TARGET = HERE / "second_names.json"
OTHERS = {
    "x": "input tensors tensor mat1 self A",
    "y": "other mat2 vec2 tensor2 exponent B vec",
    "axis": "dim dims",
    "axes": "dim dims",
    "axis1": "dim1",
    "axis2": "dim2",
    "start_axis": "start_dim",
    "stop_axis": "end_dim",
    "keepdim": "keepdims",
    "perm": "dims",
    "shape": "size sizes",
    "size": "shape",
    "num_or_sections": "split_size_or_sections indices_or_sections",
    "chunks": "sections",
    "repeat_times": "dims reps repeats",
    "repeats": "repeat",
    "p": "ord",
    "index": "indices",
    "indices": "index",
    "value": "source src values fill_value",
    "values": "src source",
    "fill_value": "value",
    "arr": "input",
    "condition": "input",
    "input": "x self",
    "tensor": "input",
    "label": "target",
    "target": "label other",
    "unbiased": "correction",
    "epsilon": "eps",
    "num": "steps",
    "num_rows": "n",
    "num_columns": "m",
    "stop": "end",
    "high": "end",
    "low": "start",
    "n": "input",
    "k": "diagonal",
    "offset": "diagonal",
    "source": "src tensor",
    "updates": "src",
    "sorted_sequence": "input",
    "q": "quantile",
    "x1": "input1",
    "x2": "input2",
    "shifts": "shift",
    "starts": "start",
    "ends": "end",
    "weight": "weights",
    "negative_slope": "slope",
    "kernel_size": "kernel_sizes",
    "out_shape": "size output_size",
}
"""By argument: what other packages call it."""


def calls() -> Iterator[tuple[str, str]]:
    """Calls, each with the table whose operands it names."""
    yield from ((text, "values") for text in CALLS)
    yield from ((text.replace("dtype=first", "dtype='float32'"), "types") for text in types.CALLS)
    for text in (HERE / "calls_by_name.txt").read_text(encoding="utf-8").splitlines():
        yield text, "values"


def made(paddle: Any, text: str, table: str) -> list[Any]:
    """What the call gives, laid flat, as arrays."""
    words = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    scope: dict[str, Any] = {"paddle": paddle, "F": paddle.nn.functional, "np": np}
    for word in sorted(words):
        if table == "values" and word in operands.OPERANDS:
            scope[word] = paddle.to_tensor(operands.values(word))
        elif table == "types" and word in types.OPERANDS:
            values, kind = types.array(word, ("float32", "float32"))
            scope[word] = paddle.to_tensor(values).astype(kind)
    paddle.seed(0)
    return flat(eval(text, scope))


def flat(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [e for v in value for e in flat(v)]
    return [value.numpy() if hasattr(value, "numpy") else value]


def same(mine: list[Any], expected: list[Any]) -> bool:
    def equal(a: Any, b: Any) -> bool:
        if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
            return bool(a == b)
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")

    return len(mine) == len(expected) and all(map(equal, mine, expected))


def by_name(text: str, signatures: dict[str, str]) -> tuple[str, dict[str, str]] | None:
    """The function that is called, and its arguments by their names, as text."""
    node: Any = ast.parse(text, mode="eval").body
    if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
        return None
    function = ast.unparse(node.func)
    public = function.replace("F.", "nn.functional.", 1).removeprefix("paddle.")
    if not function.startswith(("paddle.", "F.")) or public not in signatures:
        return None
    parameters: Any = ast.parse(f"def f({signatures[public]}): pass").body[0]
    names = [a.arg for a in parameters.args.posonlyargs + parameters.args.args]
    if len(node.args) > len(names):
        return None
    named = dict(zip(names, map(ast.unparse, node.args), strict=False))
    return function, named | {k.arg: ast.unparse(k.value) for k in node.keywords if k.arg}


def written(function: str, named: dict[str, str]) -> str:
    return f"{function}({', '.join(f'{name}={value}' for name, value in named.items())})"


def record(paddle: Any) -> dict[str, list[str]]:
    """``function.first.second`` -> the call, with first names, and the table of its operands."""
    signatures = json.loads((HERE / "public_signatures.json").read_text(encoding="utf-8"))["3.3.1"]
    rows: dict[str, list[str]] = {}
    for text, table in calls():
        parts = by_name(text, signatures)
        if parts is None:
            continue
        function, named = parts
        try:
            expected = made(paddle, written(function, named), table)
        except Exception:
            continue  # an operand of another type: other calls show the function
        for first, second in ((f, s) for f in named for s in OTHERS.get(f, "").split() if s not in named):
            row = f"{function} {first} {second}"
            if row in rows or second in signatures.get(function, ""):
                continue
            try:
                found = made(
                    paddle, written(function, {second if n == first else n: v for n, v in named.items()}), table
                )
            except Exception:
                continue  # it does not take that name
            if same(found, expected):
                rows[row] = [written(function, named), table]
    return rows


if __name__ == "__main__":
    import paddle

    found = record(paddle)
    lines = [f"{json.dumps(row)}: {json.dumps(call)}" for row, call in sorted(found.items())]
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(len(lines), "second names")
