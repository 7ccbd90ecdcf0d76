"""Case of ``why`` in a static program: the loss, what backward is asked for, and a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from ...answers.why.program_case import BackwardArguments, ProgramCase
from ...answers.why.program_intent import BackwardCall
from ...core.notes import SILENT, Notes
from ...ir.variable import Variable
from ...request.options import WhyOptions
from ...script.calls import PassCall
from .. import run_notes
from . import feeds
from .backward_request import find_wanted
from .model import ProgramModel


def case(model: ProgramModel, asked: WhyOptions, notes: Notes) -> ProgramCase:
    """The case of a program; it is run where a gradient has to be looked at.

    Raises:
        CommandError: a selector selects nothing.
    """
    chosen = model.selection().select("why", asked.variables, notes) if asked.variables else None
    lists = find_wanted(model, asked, notes)
    listed = None if lists.listed is None else {v.name for v in lists.listed}
    python = {v: n for n, v in reversed(model.named.items())}

    def display(v: Variable) -> str:
        return getattr(v, "layer_path", None) or (v.name if v.is_parameter else python.get(v, v.name))

    run = None if asked.no_run else _runner(model, asked, notes)
    others = [_call(call) for call in model.others]
    return ProgramCase(model.the_loss, BackwardArguments(listed, lists.no_grad, lists.at), display, run, chosen, others)


def _call(call: PassCall) -> BackwardCall:
    listed = None if call.listed is None else {v.name for v in call.listed}
    return BackwardCall(call.loss, listed, list(call.no_grad or ()), call.location)


def _runner(model: ProgramModel, asked: WhyOptions, notes: Notes) -> Callable[[Sequence[Variable]], Sequence[Any]]:
    """Return a function that runs the model's program, or that of the variables to fetch; it prints the notes
    of its first run.
    """
    takers = iter([notes])

    def run(fetch: Sequence[Variable]) -> Sequence[Any]:
        program = fetch[0].block.program if fetch else model.program
        same = dataclasses.replace(model, program=program)
        taker = next(takers, SILENT)
        run_notes.rules_on_the_reference(asked.backend, taker)
        return feeds.run(same, fetch, asked.feed, taker, asked.backend)

    return run
