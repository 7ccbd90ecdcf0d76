"""Models of what a running program holds: a loss Tensor, or the loss Variable of a static program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core import source
from ..core.errors import ArgumentTypeError, UsageError
from ..eager.journal import Journal
from ..eager.tensor import Tensor
from ..ir import default
from ..ir.strip import strip_backward
from ..ir.variable import Variable
from ..kinds.model import Model
from ..kinds.program.model import ProgramModel
from ..kinds.tape import finding

WORDS = ["MODEL"]
"""What stands for the model file in commands, where there is none."""


def make_model(
    loss: Tensor | Variable, who: str, *, title: str = "", feed: Any = None, journal: Journal | None, live: bool
) -> Model:
    """The model of a loss.

    Args:
        who: the function that was called, for messages.
        title: what the model is called; by default after the file that computed the loss.
        feed: arrays by name, for a program.
        journal: kept while a Tensor was computed.
        live: whether the loss was there before.

    Raises:
        ArgumentTypeError: *feed* is no dict (a TypeError).
        UsageError: there is no journal, or *feed* is for a Tensor (a ValueError).
    """
    name = title or _file(loss)
    if isinstance(loss, Variable):
        return _program(loss, name, feed, who)
    if journal is None:
        raise UsageError(
            f"{who}: nothing was noted about the tensor '{loss.name}'.",
            hint="compute it inside 'with gradtool.watching():' and ask there, give a function that computes it, "
            "or use the command gradtool report",
        )
    if feed is not None:
        raise UsageError(f"{who}: 'feed' is for static programs, and '{loss.name}' is a Tensor.")
    return finding.model_of_loss(loss, name, journal, live, WORDS)


def _program(loss: Variable, name: str, feed: Any, who: str) -> ProgramModel:
    """A copy of the loss's program, without a backward part."""
    if feed is not None and not isinstance(feed, Mapping):
        raise ArgumentTypeError(f"{who}: 'feed' must be a dict of arrays, but received {type(feed).__name__}.")
    program = loss.block.program.clone()
    copy = program.blocks[loss.block.idx].vars[loss.name]
    stripped = strip_backward(program, [copy])
    arrays = None if feed is None else dict(feed)
    startups = [default.default_startup_program()]
    return ProgramModel(name, program, startups, copy, {}, arrays, "'feed'", stripped, {}, [], WORDS)


def _file(loss: Tensor | Variable) -> str:
    """The file that computed the loss, or a word that stands for it."""
    op = loss.op if isinstance(loss, Variable) else loss.node
    return (source.short(op.loc).rpartition(":")[0] if op is not None else "") or "the program"
