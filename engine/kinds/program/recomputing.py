"""``--checkpoints`` and ``--memory-budget``: which values backward keeps, and what that saves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...autodiff.checkpoints import AUTO, Choice, choose, estimate
from ...core.command_errors import CommandError
from ...core.notes import Notes
from ...core.records import dataclass
from ...core.wording import count, repeat_option, size
from ...ir.variable import Variable
from ...request.options import BackwardOptions
from .feeds import read
from .model import ProgramModel


@dataclass(frozen=True)
class Recomputed:
    """Operators that ``append_backward`` computes again, and the reason.

    Attributes:
        choice: the checkpoints, and the estimated bytes at the peak with and without them.
        operators: how many forward operators run again.
        budget: what ``--memory-budget`` allows, if it was given.
    """

    choice: Choice
    operators: int
    budget: int | None

    def line(self) -> str:
        """The line under the headline."""
        kept = [v.name for v in self.choice.checkpoints]
        shown = ", ".join(kept[:4]) + (f", … ({len(kept)})" if len(kept) > 4 else "")
        what = f"checkpoints  {shown} · {count(self.operators, 'forward op')} run again" if kept else "no checkpoints"
        text = f"{what} · about {size(self.choice.peak)} of values and gradients at the peak"
        if kept:
            text += f" instead of {size(self.choice.without)}"
        return text if self.budget is None else f"{text} · budget {size(self.budget)}"

    def data(self) -> dict[str, Any]:
        """The same for JSON."""
        return {
            "checkpoints": [v.name for v in self.choice.checkpoints],
            "operators": self.operators,
            "peak_bytes": self.choice.peak,
            "peak_bytes_without": self.choice.without,
            "budget_bytes": self.budget,
        }


def words(asked: BackwardOptions) -> list[str]:
    """The options as words of a command line."""
    chosen = repeat_option("--checkpoints", asked.checkpoints)
    return chosen if asked.memory_budget is None else [*chosen, "--memory-budget", str(asked.memory_budget)]


def choose_checkpoints(
    model: ProgramModel, asked: BackwardOptions, stopped: Sequence[Variable | str], notes: Notes
) -> Choice | None:
    """The checkpoints that are asked for; None where nothing is.

    Args:
        stopped: the no-grad set.

    Raises:
        CommandError: a selector selects nothing, or options contradict each other.
        BudgetError: the budget is too small.
    """
    texts, budget = asked.checkpoints, asked.memory_budget
    if not texts and budget is None:
        return None
    automatic = not texts or AUTO in texts
    if automatic and len(texts) > 1:
        raise CommandError("--checkpoints auto chooses all checkpoints: it goes with no other")
    if budget is not None and not automatic:
        raise CommandError("--memory-budget needs --checkpoints auto", "or leave --checkpoints out")
    shapes = _shapes(model, asked.feed)
    names = {v if isinstance(v, str) else v.name for v in stopped}
    if automatic:
        return choose(model.the_loss, names, budget, shapes)
    kept = model.selection().select("--checkpoints", texts, notes)
    estimated = estimate(model.the_loss, kept, names, shapes)
    unused = [v.name for v in kept if v not in set(estimated.checkpoints)]
    if unused:
        notes.note(f"--checkpoints: the loss does not depend on {', '.join(unused)}: skipped")
    return estimated


def _shapes(model: ProgramModel, feed_file: str | None) -> dict[str, tuple[int, ...]]:
    """The shapes of what is fed, where that is known."""
    fed = model.feed or {}
    if feed_file is not None:
        fed = read(feed_file, model.program)
    return {name: np.shape(value) for name, value in fed.items()}
