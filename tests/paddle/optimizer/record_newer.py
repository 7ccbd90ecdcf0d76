"""Records what Paddle's newer optimizers make of parameters, step by step.

Run with an interpreter that has Paddle 3.3.1, from the top of the repository::

    PADDLE/bin/python tests/paddle/optimizer/record_newer.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

OUT = Path(__file__).with_name("newer_optimizers.json")

STEPS = 7

CASES = (
    "RAdam(parameters=p)",
    "RAdam(0.1, 0.8, 0.9, 1e-3, p)",
    "RAdam(0.1, 0.5, 0.5, parameters=p, weight_decay=0.1)",
    "NAdam(parameters=p)",
    "NAdam(0.1, 0.8, 0.9, 1e-3, 0.5, p)",
    "NAdam(0.05, parameters=p, weight_decay=0.2)",
    "ASGD(0.1, parameters=p)",
    "ASGD(0.1, 3, p)",
    "ASGD(0.1, 2, p, weight_decay=0.1)",
    "Rprop(0.1, (0.01, 0.3), p)",
    "Rprop(0.05, parameters=p, etas=(0.3, 1.5))",
)
"""Calls of ``paddle.optimizer``; p are the parameters."""

CLOSED = (
    "LBFGS(0.1, parameters=p)",
    "LBFGS(0.2, 3, parameters=p)",
    "LBFGS(0.5, 6, line_search_fn='strong_wolfe', parameters=p)",
    "LBFGS(1.0, 2, history_size=1, line_search_fn='strong_wolfe', parameters=p)",
    "LBFGS(3.0, 10, 5, parameters=p, line_search_fn='strong_wolfe')",
    "LBFGS(40.0, 4, parameters=p, line_search_fn='strong_wolfe')",
    "LBFGS(0.001, 4, parameters=p, line_search_fn='strong_wolfe')",
)
"""The same, with steps that compute the loss themselves."""


def starts() -> list[Any]:
    rng = np.random.default_rng(6)
    return [rng.normal(size=(2, 3)), rng.normal(size=(4,)), np.array(0.7)]


def run(paddle: Any, call: str) -> list[list[Any]]:
    """The parameters after each step."""
    values = starts()
    p = [paddle.create_parameter(list(v.shape), "float64") for v in values]
    for parameter, value in zip(p, values, strict=True):
        parameter.set_value(value)
    optimizer = eval(call, {"p": p, **names(paddle)})
    path = []
    for step in range(STEPS):

        def closure(step: int = step) -> Any:
            optimizer.clear_grad()
            a, b, c = p
            loss = (paddle.cos(a + step * 0.1) * b[:3]).sum() + ((b - c) ** 4).sum() + 0.5 * (a * a).sum() + c * c
            loss.backward()
            return loss

        if call in CLOSED:
            optimizer.step(closure)
        else:
            closure()
            optimizer.step()
        path.append([v.numpy().tolist() for v in p])
    return path


def names(paddle: Any) -> dict[str, Any]:
    return {name: getattr(paddle.optimizer, name) for name in ("RAdam", "NAdam", "ASGD", "Rprop", "LBFGS")}


def main() -> None:
    import paddle

    rows = [f"{json.dumps(call)}: {json.dumps(run(paddle, call), separators=(',', ':'))}" for call in (*CASES, *CLOSED)]
    OUT.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
