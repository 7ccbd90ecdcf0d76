"""Static mode against dynamic mode: the same drawn calls in both, their values and their gradients.

::

    python -m tests.differential.modes [COUNT [SEED]] [--form single|chain] [--only NAME]
"""

from __future__ import annotations

import argparse
import re
import warnings
from collections import Counter
from typing import Any

import numpy as np

import gradtool
from gradtool import paddle

from .comparing import Difference, first, function, line_of, of_values
from .decided import DIFFERING_MODES
from .driver import Run
from .programs import drawn

OF_ONE = re.compile(
    r"paddle\.static\.|train\(|filled\(|create_parameter|create_global_var|\w_\(|py_func|(rand|shuffle|normal)\w*\("
)
"""What only programs have, or what differs by what a mode is: parameters, edits in place, random numbers."""
UNKNOWN = re.compile(r", unknown=\[[^]]*\]")


OPERAND = re.compile(r"^(x\d+ = tensor\(\"\w+\", )(\[[^]]+\])(, \[[^]]*\](?:, grad=True)?)\)$", re.MULTILINE)


def hidden(seed: int, text: str) -> str:
    """The program of *text*, in every third one of them without any dimension of its operands, or without the first."""
    if seed % 3:
        return text

    def without(match: re.Match[str]) -> str:
        rank = match[2].count(",") + 1
        return f"{match[1]}{match[2]}{match[3]}, unknown={list(range(rank if seed % 2 else 1))})"

    return OPERAND.sub(without, UNKNOWN.sub("", text))


class FromOnes(Run):
    """A program in dynamic mode whose gradients start from ones, as those of a program with unknown dimensions."""

    def seeds(self, tensors: list[Any]) -> list[Any]:
        return [self.paddle.ones_like(t) for t in tensors]


def pair(seed: int, form: str, only: str = "") -> tuple[str, str] | None:
    """A program, and the same calls in dynamic mode; None where there is no such thing."""
    text = hidden(seed, drawn(seed, "static", form, only))
    if OF_ONE.search(text):
        return None
    head, *lines = text.splitlines()
    ending = re.fullmatch(r"gradients\((\[.*?\]), (\[.*?\])(, seeded=False)?\)", lines[-1])
    if ending is not None:
        targets, inputs = ending[1], ending[2]
    elif lines[-1].startswith("append_backward"):
        targets = f"[{lines[-1].partition('(')[2].partition(',')[0]}]"
        inputs = str([line.partition(" = ")[0] for line in lines if "grad=True" in line])
    else:
        return text, "\n".join(["# eager", *(UNKNOWN.sub("", line) for line in lines)])
    body = lines[:-1]
    ones = ", seeded=False" if UNKNOWN.search(text) else ""
    static = [head, *body, f"gradients({targets}, {inputs}{ones})"]
    dynamic = ["# eager", *(UNKNOWN.sub("", line) for line in body), f"grad({targets}, {inputs})"]
    return "\n".join(static), "\n".join(dynamic)


def run(text: str, ones: bool = False) -> dict[str, Any]:
    """What gradtool makes of a program.

    Args:
        ones: gradients start from ones, whatever the driver starts from.
    """
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return (FromOnes if ones else Run)(paddle, text).lead()
    finally:
        gradtool.paddle.disable_static()


def difference(static: str, dynamic: str) -> Difference | None:
    """The first difference between the two modes, or None."""
    ours = run(static)
    other = run(dynamic, ones="seeded=False" in static or any(-1 in d[1] for d in ours.get("declared", {}).values()))
    if ours["refused"] or other["refused"]:
        if bool(ours["refused"]) == bool(other["refused"]):
            return None
        if (ours["refused"] or other["refused"])["at"] == "run":
            return None
        return Difference("refused", blamed(static), "", str(ours["refused"]), str(other["refused"]))
    values = flattened(other["values"])
    gap = first(ours["values"], {n: v for n, v in values.items() if n in ours["values"]}, loose=True)
    if gap is None:
        grads = {name.removesuffix(" 1"): told for name, told in other["grads"].items()}
        gap = of_gradients(ours["grads"], grads)
        return None if gap is None else Difference(f"grads {gap[0]}", blamed(static), *gap[1:])
    return Difference(f"values {gap[0]}", function(line_of(static, gap[1], "values")), *gap[1:])


def blamed(text: str) -> str:
    return function([line for line in text.splitlines() if line.startswith("v")][-1])


def flattened(values: dict[str, Any]) -> dict[str, Any]:
    """Values by the names that a program has for them, without what it does not tell."""
    out: dict[str, Any] = {}
    for name, value in values.items():
        parts(name, value, out)
    return out


def parts(name: str, value: Any, into: dict[str, Any]) -> None:
    if isinstance(value, dict) and "items" in value:
        for i, item in enumerate(value["items"]):
            parts(f"{name}.{i}", item, into)
    elif isinstance(value, dict) and "values" in value:
        into[name] = {k: v for k, v in value.items() if k != "stop"}


def of_gradients(ours: dict[str, Any], other: dict[str, Any]) -> tuple[str, str, str, str] | None:
    """The first gradient that differs; none is zeros."""
    for name, told in ours.items():
        there = other.get(name)
        there = there and {k: v for k, v in there.items() if k != "stop"}
        if told is None or there is None:
            some = told or there
            if some is None or not np.any(np.nan_to_num(np.array(some["values"], float))):
                continue
            return "presence", name, str(told)[:200], str(there)[:200]
        word = of_values(told, there, True)
        if word:
            return word, name, str(told)[:300], str(there)[:300]
    return None


def reason_of(text: str, gap: Difference) -> str:
    """Why the modes may differ so; empty where nobody has said."""
    return next(
        (r for pattern, kind, r in DIFFERING_MODES if re.search(pattern, text) and re.match(kind, gap.kind)), ""
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.differential.modes", description=__doc__.partition("\n")[0])
    parser.add_argument("count", nargs="?", type=int, default=500)
    parser.add_argument("seed", nargs="?", type=int, default=0)
    parser.add_argument("--form", choices=("single", "chain"), default="single")
    parser.add_argument("--only", default="", help="a function of the table")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    shortest: dict[tuple[str, str], tuple[str, Difference]] = {}
    classes: Counter[tuple[str, str]] = Counter()
    for seed in range(options.seed, options.seed + options.count):
        texts = pair(seed, options.form, options.only)
        if texts is None:
            counts["of programs alone"] += 1
            continue
        gap = difference(*texts)
        reason = gap and reason_of(texts[0], gap)
        counts["equal" if gap is None else f"decided: {reason}" if reason else "open"] += 1
        if gap is not None and not reason:
            classes[gap.class_] += 1
            if gap.class_ not in shortest or len(texts[0]) < len(shortest[gap.class_][0]):
                shortest[gap.class_] = texts[0], gap
    print("\n".join(f"{count:8} {what}" for what, count in counts.most_common()))
    for class_, count in classes.most_common():
        text, gap = shortest[class_]
        print(
            f"\n{count} x {gap.kind} of {gap.function} at {gap.where}\n    static  {gap.ours}\n    dynamic {gap.theirs}"
        )
        print("\n".join(f"    {line}" for line in text.splitlines()))


if __name__ == "__main__":
    main()
