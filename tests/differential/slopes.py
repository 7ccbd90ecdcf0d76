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


def slopes(text: str, declared: dict[str, Any]) -> dict[str, Any]:
    """The gradient of each operand by central differences, from the seeds that the driver starts from; NaN at kinks.

    Args:
        declared: what is declared of the variables of a program, by name.
    """
    head, *lines = text.splitlines()
    names = re.findall(r"[\"'](\w+)[\"']", re.split(r"\]|retain", lines[-1])[0])
    targets = names[:1] if "append_backward" in lines[-1] else names
    average = "append_backward" in lines[-1]
    shapes = [shape for name, (_, shape, _) in declared.items() if name.split(".")[0] in targets]
    seeded = "seeded=False" not in lines[-1] and all(n >= 0 for shape in shapes for n in shape)
    body = [line.replace("float32", "float64") if "tensor(" in line else line for line in lines[:-1]]
    out: dict[str, Any] = {}
    here = outcome("\n".join([head, *body]), targets, seeded, average)
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
            gradient.append(slope_between(*ends, here))
        body[index] = line
        out[match.group(1)] = np.array(gradient)
    return out


def slope_between(after: float, before: float, here: float) -> float:
    """The slope by central differences; NaN at a kink, where those to both sides disagree."""
    right, left = (after - here) / STEP, (here - before) / STEP
    if abs(right - left) > 0.05 * max(abs(right), abs(left), 1e-2):
        return np.nan
    return (right + left) / 2


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


def gradient_of(answer: dict[str, Any], name: str) -> Any:
    """The first gradient that an answer has of an operand."""
    return answer["grads"].get(name) or answer["grads"].get(f"{name} 1")


def verdict(text: str, ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """``ours``, ``theirs``, ``both`` or ``neither``: whose gradients the differences support, where they are finite.

    Both are supported only where there is a kink, so that they may differ there.
    """
    right, kinks = {"ours": True, "theirs": True}, False
    for name, slope in slopes(text, ours.get("declared", {})).items():
        if not (gradient_of(ours, name) or gradient_of(theirs, name)):  # frozen, or not asked for
            continue
        for side, answer in (("ours", ours), ("theirs", theirs)):
            told = gradient_of(answer, name)
            gradient = np.zeros(len(slope)) if not told else np.array(told["values"], float)
            finite = np.isfinite(slope)
            kinks = kinks or not finite.all()
            close = len(gradient) == len(slope) and np.allclose(gradient[finite], slope[finite], rtol=2e-2, atol=2e-3)
            right[side] = right[side] and bool(close)
    if right["ours"] == right["theirs"]:
        return "both" if right["ours"] and kinks else "neither"
    return "ours" if right["ours"] else "theirs"
