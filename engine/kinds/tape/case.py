"""Case of ``why`` in dynamic mode: the journal, the loss and what has a name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...answers.why.graph_case import GraphCase
from ...answers.why.of_journal import NamedTensor
from ...answers.why.step_case import StepCase
from ...core.command_errors import CommandError
from ...core.notes import Notes
from ...kernels.choice import DEFAULT
from ...request.options import WhyOptions
from .model import TapeModel


def case(model: TapeModel, asked: WhyOptions, notes: Notes) -> Any:
    """The case of a loss that was watched while it was computed.

    Raises:
        CommandError: it was not, a selector selects nothing, or an option is for programs.
    """
    model.must_take({"--feed": asked.feed, "--backend": asked.backend not in (None, DEFAULT)})
    select = model.selection()
    chosen = select.select("why", asked.variables, notes) if asked.variables else None
    constants = select.select("--no-grad", asked.no_grad, notes)
    subjects = [
        NamedTensor(e.tensor, e.display_name, e.tensor.loc, e.container, bool(e.dropped)) for e in model.entries
    ]
    subjects += [NamedTensor(t, t.name, t.loc) for t in chosen or () if t not in {e.tensor for e in model.entries}]
    if model.journal is None and model.by_graph is not None:
        names = None if chosen is None else {e.display_name for e in model.entries if e.tensor in chosen}
        return GraphCase(model.by_graph(), model.loss_name, names)
    if model.journal is None:
        raise CommandError(
            f"{model.name} was not watched while it was computed",
            "run its cell again: %load_ext gradtool, or %watching on, comes before",
        )
    own = StepCase(model.journal, model.loss, model.loss_name, subjects, constants, chosen, model.start)
    call = model.pass_call
    if constants or call is None:
        return own
    others = [case(sibling, replace(asked, variables=()), notes) for sibling in model.siblings]
    given = {t: (share.array, len(share.passes)) for t, share in model.file_shares().items()}
    zeros = bool(call.gave) and not any(np.any(g) for g in call.gave.values())
    return own.join_step(others, given, call.location, zeros)
