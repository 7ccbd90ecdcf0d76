"""Write ``errors.json``: which class of Python's, and which first line, Paddle's errors have for wrong calls.

Run with an interpreter that has Paddle 3.3.1: ``python tests/paddle/record_errors.py``. The calls are in
``errors_of_calls.txt``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TARGET = HERE / "errors.json"
CALLS = (HERE / "errors_of_calls.txt").read_text(encoding="utf-8").splitlines()


def error_of(paddle: Any, call: str) -> Exception:
    """What *call* raises."""

    def ones(*shape: int) -> Any:
        return paddle.ones([*shape])

    def ints(*values: int) -> Any:
        return paddle.to_tensor([*values])

    def leaf(*shape: int) -> Any:
        x = ones(*shape)
        x.stop_gradient = False
        return x

    def twice() -> None:
        y = leaf(2).square().sum()
        y.backward()
        y.backward()

    names = {"paddle": paddle, "F": paddle.nn.functional, "nn": paddle.nn, "optim": paddle.optimizer}
    try:
        eval(call, {**names, "ones": ones, "ints": ints, "leaf": leaf, "twice": twice})
    except Exception as error:
        return error
    raise AssertionError(f"{call} raises nothing")


def kinds(error: Exception) -> list[str]:
    """The classes of Python's that an error is of, the nearest first."""
    general = (Exception, BaseException, object)
    return [k.__name__ for k in type(error).__mro__ if k.__module__ == "builtins" and k not in general]


if __name__ == "__main__":
    import paddle

    rows = []
    for call in CALLS:
        raised = error_of(paddle, call)
        first = (str(raised).strip().splitlines() or [""])[0]
        rows.append(f"{json.dumps(call)}: {json.dumps([kinds(raised)[0], first])}")
    TARGET.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    print(len(rows), "errors", file=sys.stderr)
