"""Replaying recorded cases: building a model on gradtool and comparing it with what Paddle built and computed.

The cases and their format: ``tests/oracle/README.md``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import gradtool as paddle

CASES = Path(__file__).parent.parent / "oracle"
FREE_ORDER = {"conditional_block", "while", "conditional_block_grad", "while_grad"}
UNCOUNTED_SLOTS = {"XShape", "ReserveSpace"}


def names(prefix: str) -> list[str]:
    """The recorded cases whose name starts with *prefix*."""
    return sorted(p.stem for p in CASES.glob(f"{prefix}*.json"))


def load(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The namespace of the model file and the record."""
    path = CASES / "models" / f"{name}.py"
    namespace: dict[str, Any] = {"__name__": "model"}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    return namespace, json.loads((CASES / f"{name}.json").read_text())


def array(recorded: dict[str, Any]) -> np.ndarray:
    return np.array(recorded["data"], recorded["dtype"]).reshape(recorded["shape"])


def result_names(result: Any) -> dict[str, Any]:
    """Names of whatever a backward call returned, in the form of the record."""

    def name(v: Any) -> Any:
        return None if v is None else v.name

    if isinstance(result, dict):
        return {"calls": [result_names(r) for r in result["calls"]]}
    if isinstance(result, tuple):
        operators, pairs = result
        return {
            "pairs": [[name(p), name(g)] for p, g in pairs],
            "optimize_ops": [[o.type, o.input("Param")] for o in operators],
        }
    if all(isinstance(r, tuple) for r in result):
        return {"pairs": [[name(p), name(g)] for p, g in result]}
    return {"grads": [name(g) for g in result]}


def ops(program: Any) -> list[dict[str, Any]]:
    """Type and slots of every operator of block 0."""
    return [
        {
            "type": o.type,
            "inputs": {n: o.input(n) for n in o.input_names},
            "outputs": {n: o.output(n) for n in o.output_names},
        }
        for o in program.global_block().ops
    ]


def recorded_ops(record: dict[str, Any], part: str) -> list[dict[str, Any]]:
    """The same from the record."""
    return [{k: o[k] for k in ("type", "inputs", "outputs")} for o in record[part]["blocks"][0]["ops"]]


class Replay:
    """A static case, built on gradtool in fresh programs."""

    def __init__(self, name: str) -> None:
        self.namespace, self.record = load(name)
        paddle.enable_static()
        self.main, self.startup = paddle.static.Program(), paddle.static.Program()
        with (
            paddle.utils.unique_name.guard(),
            paddle.static.program_guard(self.main, self.startup),
        ):
            self.outputs = self.namespace["forward"]()
            self.forward_ops = ops(self.main)
            self.result = self.namespace["backward"](self.outputs)
        self.backward_ops = ops(self.main)
        self.scope = paddle.static.Scope()

    def reset(self) -> None:
        """The recorded parameters and other persistable values."""
        for part in ("params", "other_persistables"):
            for name, value in self.record[part].items():
                self.scope.var(name).get_tensor().set(array(value))

    def run(self, fetch: list[str], feed: dict[str, Any] | None = None) -> list[Any]:
        """Values of *fetch* with the recorded feeds."""
        given = {n: array(v) for n, v in self.record["feeds"].items()}
        return paddle.static.Executor().run(
            self.main, feed={**given, **(feed or {})}, fetch_list=fetch, scope=self.scope
        )


def close(ours: Any, recorded: np.ndarray) -> str | None:
    """Why the values differ beyond the oracle's tolerance, or None."""
    ours = np.asarray(ours)
    if ours.shape != recorded.shape:
        return f"shape {ours.shape}, recorded {recorded.shape}"
    if ours.dtype != recorded.dtype:
        return f"dtype {ours.dtype}, recorded {recorded.dtype}"
    if not recorded.size:
        return None
    if recorded.dtype.kind != "f":
        return None if np.array_equal(ours, recorded) else f"{ours} is not {recorded}"
    limit = max(1e-6, 1e-5 * float(np.abs(recorded).max())) + 1e-4 * np.abs(recorded)
    off = np.abs(ours.astype("float64") - recorded)
    return None if bool((off <= limit).all()) else f"off by {off.max():.3g} of {np.abs(recorded).max():.3g}"
