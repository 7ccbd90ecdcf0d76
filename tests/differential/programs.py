"""Random programs: a seed gives a text, of one call or of a chain of them."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np

import gradtool
from gradtool import paddle

from . import rows  # noqa: F401  (fills the table)
from .drawing import Draw, Operand
from .driver import Run
from .table import ROWS, Row

CALLS = {"single": 1, "chain": 4}


def drawn(seed: int, mode: str, form: str = "single", only: str = "") -> str:
    """The text of a program: ``mode`` is eager or static, ``form`` single or chain; ``only`` chooses the function."""
    source = random.Random(f"{seed} {mode} {form}")
    draw = Draw(source, mode == "static")
    choices = [r for r in ROWS.values() if mode in r.modes and (form == "single" or r.chains) and only in ("", r.name)]
    results = []
    for index in range(1 if form == "single" else source.randint(2, CALLS["chain"])):
        name = f"v{index}"
        written = call(draw, choices, name, results)
        if written:
            results.append(name)
    if mode == "static":
        draw.lines.append(static_ending(draw, results))
    elif not any("train(" in line for line in draw.lines):
        draw.lines.append(eager_ending(draw, results))
    return "\n".join([f"# {mode}", *filter(None, draw.lines)])


def call(draw: Draw, choices: list[Row], name: str, results: list[str]) -> bool:
    """Draw a call into the program; its result goes to the pool of what later calls may take."""
    row = draw.source.choices(choices, [r.weight for r in choices])[0]
    before = len(draw.lines)
    draw.line(name, row.write(draw, row.name))
    if not row.chains:
        return True
    value = value_of(draw.lines, name)
    if value is not None:
        draw.pool.append(Operand.of(name, tuple(value.shape), str(value.dtype).rpartition(".")[2]))
    return len(draw.lines) > before


def value_of(lines: list[str], name: str) -> Any:
    """The tensor that the lines give a name, run by gradtool in eager mode; None where they give none."""
    run = Run(paddle, "\n".join(["# eager", *lines]))
    static = gradtool.paddle.in_static_mode()
    gradtool.paddle.disable_static()
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            run.build()
    finally:
        (gradtool.paddle.enable_static if static else gradtool.paddle.disable_static)()
    value = run.values.get(name)
    return value if isinstance(value, gradtool.paddle.Tensor) else None


def eager_ending(draw: Draw, results: list[str]) -> str:
    sinks = [n for n in results if not any(n in line.partition(" = ")[2] for line in draw.lines)] or results[-1:]
    names = ", ".join(f'"{n}"' for n in sinks)
    if draw.leaves and draw.chance(0.15):
        leaves = ", ".join(f'"{x}"' for x in draw.leaves)
        return f"grad([{names}], [{leaves}]{', order=2' if draw.chance(0.6) else ''})"
    retained = [n for n in results if n not in sinks and draw.chance(0.4)]
    extra = f", retain={retained}" if retained else ""
    return f"backward({names}{extra})"


def static_ending(draw: Draw, results: list[str]) -> str:
    if any("train(" in line for line in draw.lines):
        return ""
    leaves = draw.leaves
    if draw.chance(0.7):
        names = ", ".join(f'"{n}"' for n in (results if draw.chance(0.2) else results[-1:]))
        into = ", ".join(f'"{x}"' for x in leaves)
        if not leaves:
            return ""
        return f"gradients([{names}], [{into}]{', seeded=False' if draw.chance(0.3) else ''})"
    listed = [str(x) for x in leaves if draw.chance(0.8)] if draw.chance(0.8) else None
    frozen = draw.source.sample([str(x) for x in leaves] + results[:-1], 1) if leaves and draw.chance(0.2) else None
    return f'append_backward("{results[-1]}", {listed}, {frozen})'
