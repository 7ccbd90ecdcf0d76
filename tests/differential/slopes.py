"""Which side's gradients are right: differences of what the program computes, in float64 where the mode lets it.

The outcomes of forward passes are gradtool's own, which is enough where both agree on them.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

import gradtool
from gradtool import paddle

from .driver import answered, pattern

STEP = 1e-4
MOST = 64
"""Operands with more elements are not asked about."""


def slopes(text: str) -> dict[str, Any]:
    """The gradient of each operand by central differences, from the seeds that the driver starts from."""
    head, *lines = text.splitlines()
    names = re.findall(r"[\"'](\w+)[\"']", re.split(r"\]|retain", lines[-1])[0])
    targets = names[:1] if "append_backward" in lines[-1] else names
    average = "append_backward" in lines[-1]
    seeded = "seeded=False" not in lines[-1] and "unknown=" not in text
    body = [line.replace("float32", "float64") if "tensor(" in line else line for line in lines[:-1]]
    out: dict[str, Any] = {}
    for index, line in enumerate(body):
        match = re.match(r"(\w+) = tensor\(.*grad=True", line)
        if match is None:
            continue
        shape, values = re.findall(r"\[[^\]]*\]", line)[:2]
        numbers = eval(values, {"nan": np.nan, "inf": np.inf})
        if len(numbers) > MOST or shape == values:
            continue
        gradient = []
        for place in range(len(numbers)):
            ends = []
            for step in (STEP, -STEP):
                moved = str([n + step * (i == place) for i, n in enumerate(numbers)])
                body[index] = line.replace(f" {values}", f" {moved}")
                ends.append(outcome("\n".join([head, *body]), targets, seeded, average))
            gradient.append((ends[0] - ends[1]) / (2 * STEP))
        body[index] = line
        out[match.group(1)] = np.array(gradient)
    return out


def outcome(text: str, targets: list[str], seeded: bool, average: bool) -> float:
    """The scalar whose gradients the driver asks for: all targets by their seeds, or the mean of one."""
    gradtool.paddle.disable_static()
    gradtool.paddle.set_default_dtype("float64")
    try:
        answer = answered(paddle, text)
    finally:
        gradtool.paddle.set_default_dtype("float32")
        gradtool.paddle.disable_static()
    total = 0.0
    for told in tensors([v for n, v in answer["values"].items() if n.split(".")[0] in targets]):
        array = np.array(told["values"], float).reshape(told["shape"])
        if average:
            return float(array.mean())
        total += float(np.sum(array * (pattern(array.shape) if seeded else 1.0)))
    return total


def tensors(told: list[Any]) -> list[dict[str, Any]]:
    """The floats among told values, those in lists too."""
    out = []
    for value in told:
        if isinstance(value, dict) and "items" in value:
            out += tensors(value["items"])
        elif isinstance(value, dict) and value.get("dtype", "").startswith("float") and not value.get("stop"):
            out.append(value)
    return out


def verdict(text: str, ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """``ours``, ``theirs``, ``both`` or ``neither``: whose gradients the differences support, where they are finite."""
    right = {"ours": True, "theirs": True}
    for name, slope in slopes(text).items():
        for side, answer in (("ours", ours), ("theirs", theirs)):
            told = answer["grads"].get(name) or answer["grads"].get(f"{name} 1")
            gradient = np.zeros(len(slope)) if not told else np.array(told["values"], float)
            finite = np.isfinite(slope)
            close = len(gradient) == len(slope) and np.allclose(gradient[finite], slope[finite], rtol=2e-2, atol=2e-3)
            right[side] = right[side] and bool(close)
    if right["ours"] == right["theirs"]:
        return "both" if right["ours"] else "neither"
    return "ours" if right["ours"] else "theirs"
