"""State that a model file left behind when it had run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any, TypeGuard

from ..core.command_errors import CommandError
from ..core.errors import GradtoolError
from ..core.records import dataclass
from ..eager.journal import Journal
from ..eager.parameter import ParameterRecord
from ..eager.tape import FreedGraphError, InplaceError
from ..ir.program import Program
from ..ir.variable import Variable
from .attributes import is_a
from .calls import PassCalls

USUAL_LOSSES = ("loss", "avg_loss", "total_loss", "cost", "avg_cost")
"""What losses are called, in the order of preference."""

MODULE = "__gradtool_model__"
"""The name that a model file runs under; scripts (:mod:`.scripts`) run under ``__main__``."""


@dataclass
class Loaded:
    """State that a model file left behind, before anyone has looked for the loss.

    Attributes:
        name: the file's name, for people.
        namespace: the module's names.
        function: the function that was called, if one was.
        result: what it returned.
        main, startup: the default programs.
        journal: what happened in dynamic mode, if the request asked for a journal.
        calls: the backward passes that the file asked for.
        error: what the file raised, for a post-mortem.
        live: whether the model was there before the command and is not run again: a tensor in a notebook.
        births: of the parameters of dynamic mode that were made while the file ran, in their order.
        loss: of a program from a file, where it is not one of those that the file says.
        outputs: the names of what a program from a file computes, where the file says that.
        taken: the names of those arrays that the function was called with.
        otherwise: what ran otherwise than without gradtool, see ``engine/core/deviations.py``.
        modules: the names of the user's own modules, by how many modules and parameters there were.
        by_graph: of a loss that a running framework computed unheard, answers about its leaves from the graph alone.
    """

    name: str
    namespace: dict[str, Any]
    main: Program
    startup: Program
    function: str | None = None
    result: Any = None
    journal: Journal | None = None
    calls: PassCalls = field(default_factory=PassCalls)
    error: CommandError | GradtoolError | None = None
    live: bool = False
    births: list[ParameterRecord] = field(default_factory=list)
    taken: set[str | None] = field(default_factory=set)
    loss: Variable | None = None
    outputs: tuple[str, ...] = ()
    otherwise: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    modules: dict[tuple[int, int], list[str]] = field(default_factory=dict)
    by_graph: Callable[[], Sequence[Any]] | None = None
    _held: list[Any] = field(default_factory=list)

    def hold(self, birth: ParameterRecord) -> None:
        """Note a parameter, and keep it: what a function makes would be gone when it returns its loss."""
        self.births.append(birth)
        self._held.append(birth.parameter)

    @property
    def passes(self) -> int:
        """Number of backward passes that came to their end."""
        return self.calls.passes - has_two_sides(self.error)

    @contextmanager
    def mean_before_failure(self, number: int) -> Iterator[None]:
        """Inside, answers are about the pass of that number, the last one before the pass that failed."""
        self.error, error = None, self.error
        self.calls.which = str(number)
        call = self.calls.target_pass()
        if call is not None and self.journal is not None:
            self.journal.cut_after(call.loss)
        try:
            yield
        finally:
            self.error = error

    def must_run(self, what: str) -> None:
        """Raise :class:`CommandError` for a live model: *what* watches the model while it computes."""
        if self.live:
            raise too_late_error(what, self.name)


def too_late_error(what: str, name: str) -> CommandError:
    """The error for a model that has been computed before it could be watched."""
    return CommandError(
        f"{what} watches the model compute, and {name} has been computed",
        "begin the cell that computes it with %%gradtool and the command, or put it into a file",
    )


def has_two_sides(error: Exception | None) -> TypeGuard[FreedGraphError | InplaceError]:
    """Return whether a backward pass failed because values were freed or overwritten: two lines are needed to
    say why.
    """
    return isinstance(error, (FreedGraphError, InplaceError))


def variables_of(namespace: Mapping[str, Any]) -> dict[str, Variable]:
    """The names of a module that are bound to variables."""
    return {name: value for name, value in namespace.items() if is_a(value, Variable)}
