"""Gradients of chosen variables of a program by others."""

from __future__ import annotations

import dataclasses
from typing import Any

from ...answers.numbers import Numbers
from ...answers.why.of_program import explain
from ...autodiff.gradients import gradients
from ...core.command_errors import CommandError
from ...core.notes import Notes
from ...core.wording import count
from ...ir.variable import Variable
from ...request.options import GradientsOptions
from ..derivatives import Derivatives
from ..gradients import GradientRow, makers, status
from . import feeds
from .gradients import row
from .model import ProgramModel
from .selectors import Selectors, select_in


def derivatives(model: ProgramModel, asked: GradientsOptions, notes: Notes) -> Derivatives:
    """The gradients; what computes them is appended to the program.

    Raises:
        CommandError: a selector selects nothing.
        GradtoolError: the engine refused.
    """
    # What is asked for.
    select = select_in(model)
    targets = select.select("--target", asked.target, notes) if asked.target else [model.the_loss]
    inputs = select.select("--input", asked.input, notes) if asked.input else model.parameters()
    if not inputs:
        raise CommandError(f"{model.name} has no parameters", "say what to differentiate by: --input NAME")
    starts = _starts(select, asked.target_grad, len(targets), notes)
    stopped = select.select("--no-grad", asked.no_grad, notes)
    # The gradients.
    ops = model.program.global_block().ops
    reasons = explain(list(ops), targets, stopped)
    before = len(ops)
    results = gradients(targets, inputs, starts, stopped)
    made_by = makers(model.program.global_block().ops, results)
    rows = []
    for v, gradient in zip(inputs, results, strict=True):
        text = (
            "" if gradient is not None else status(reasons.explain_variable(v)).replace("to the loss", "to the targets")
        )
        rows.append(dataclasses.replace(row(v, gradient, made_by, text), shown=v.name, facts={}))
    if asked.run or asked.feed:
        _fill(model, rows, [g for g in results if g is not None], asked, notes)
    about = dataclasses.replace(model.about, words=[*model.words, *asked.words])
    added = len(model.program.global_block().ops) - before
    return Derivatives(about, [(t.name, t.shape) for t in targets], rows, added)


def _fill(
    model: ProgramModel, rows: list[GradientRow], present: list[Variable], asked: GradientsOptions, notes: Notes
) -> None:
    arrays = iter(feeds.run(model, present, asked.feed, notes, asked.backend))
    for r in rows:
        if r.gradient is not None:
            r.values = Numbers.measure(next(arrays))


def _starts(select: Selectors, texts: tuple[str, ...], targets: int, notes: Notes) -> list[Any] | None:
    """The gradients to start from; None in it stands for ones."""
    if not texts:
        return None
    names = [n.strip() for text in texts for n in text.split(",")]
    if len(names) != targets:
        raise CommandError(
            f"--target-grad names {count(len(names), 'tensor')} for {count(targets, 'target')}",
            "one for each target in turn; 'ones' where there is nothing special",
        )
    starts: list[Any] = []
    for name in names:
        if name in ("ones", "None", "-") and name not in select.variables:
            starts.append(None)
            continue
        matched = select.select("--target-grad", [name], notes)
        if len(matched) != 1:
            raise CommandError(f"--target-grad {name} matches {count(len(matched), 'tensor')}, not one")
        starts.append(matched[0])
    return starts
