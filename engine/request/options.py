"""Options of questions: the values that kinds of models read, as the command line names them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Self

from ..core.records import dataclass
from ..core.wording import repeat_option
from ..data import row_syntax


@dataclass(frozen=True, kw_only=True)
class Cuts:
    """Selectors of the parameters whose gradients to return, and of the tensors at which gradients are cut.

    Attributes:
        params: all trainable parameters when empty.
    """

    params: tuple[str, ...] = ()
    no_grad: tuple[str, ...] = ()

    @classmethod
    def take(cls, values: dict[str, Any]) -> Self:
        """Take the options of cuts out of a command's *values*."""
        return cls(**take_options(cls, values))

    @property
    def words(self) -> list[str]:
        """The same as words of a command line."""
        return [*repeat_option("--no-grad", self.no_grad), *repeat_option("--params", self.params)]


def take_options(kind: type[Any], values: dict[str, Any]) -> dict[str, Any]:
    """Take the options for the fields of a class out of a command's *values*.

    Rows of a file that are to be fed are left there for the request: a function of dynamic mode is called with them
    while the model is loaded.
    """
    names = [f.name for f in fields(kind) if f.name != "backend" or f.name in values]  # see ``Question.take``
    taken = {name: values.pop(name) for name in names}
    if taken.get("feed") is not None and row_syntax.is_of_rows(taken["feed"]):
        values["fed"], taken["feed"] = taken["feed"], None
    return taken


@dataclass(frozen=True, kw_only=True)
class BackwardOptions(Cuts):
    """Options of the backward part.

    Attributes:
        callbacks: functions, or ``MODULE:FUNCTION`` of them, called for each operator that is added to a program.
        checkpoints: selectors of what backward keeps, or ``auto``; it computes other values again.
        memory_budget: bytes; checkpoints are chosen so that values and gradients fit.
        run: run a static program, and add statistics of the gradients.
        feed: a file of arrays to feed, which implies *run*.
        backend: what the kernels run on; what is in use if None.
    """

    callbacks: tuple[str | Callable[..., Any], ...] = ()
    checkpoints: tuple[str, ...] = ()
    memory_budget: int | None = None
    run: bool = False
    feed: str | None = None
    backend: str | None = None

    @property
    def functions(self) -> list[Callable[..., Any]]:
        """The callbacks; those given as text are found before a model is asked."""
        return [callback for callback in self.callbacks if not isinstance(callback, str)]


@dataclass(frozen=True, kw_only=True)
class GradientsOptions:
    """Outputs and inputs of gradients.

    Attributes:
        target: selectors; the loss when empty.
        input: selectors; the parameters when empty.
        target_grad: for each target the tensor to start from, or ``ones``.
        no_grad: selectors of what counts as constant.
        run: run the program and add statistics of the gradients.
        feed: a file of arrays to feed, which implies *run*.
        backend: what the kernels run on; what is in use if None.
    """

    target: tuple[str, ...] = ()
    input: tuple[str, ...] = ()
    target_grad: tuple[str, ...] = ()
    no_grad: tuple[str, ...] = ()
    run: bool = False
    feed: str | None = None
    backend: str | None = None

    @property
    def words(self) -> list[str]:
        """The same as words of a command line."""
        words = [*repeat_option("--target", self.target), *repeat_option("--input", self.input)]
        return [*words, *repeat_option("--target-grad", self.target_grad), *repeat_option("--no-grad", self.no_grad)]


@dataclass(frozen=True, kw_only=True)
class WhyOptions(Cuts):
    """Tensors to explain, and how far to go.

    Attributes:
        variables: selectors of tensors; every parameter that has no gradient when empty.
        contributions: tell what each use of a shared tensor adds to its gradient.
        prove: run again without the cut, and say what the gradient is then.
        error: explain the error that backward raises.
        no_run: look at the graph alone; do not run a static program.
        feed: a file of arrays to feed.
        backend: what the kernels run on; what is in use if None.
    """

    variables: tuple[str, ...] = ()
    contributions: bool = False
    prove: bool = False
    error: bool = False
    no_run: bool = False
    feed: str | None = None
    backend: str | None = None


@dataclass(frozen=True, kw_only=True)
class ExportOptions(Cuts):
    """Options of an export.

    Attributes:
        forward_only: leave the backward part out.
        form: ``paddle`` or ``onnx``.
    """

    forward_only: bool = False
    form: str = "paddle"


@dataclass(frozen=True, kw_only=True)
class Debug(Cuts):
    """Options of a recording.

    Attributes:
        feed: a file of arrays to feed.
        history: bytes of values to hold.
        step: which backward pass of a file that trains.
        catch, break_, watch: where to stop, as the verbs of the debugger say it.
    """

    feed: str | None = None
    history: int | None = None
    step: int | None = None
    catch: tuple[str, ...] = ()
    break_: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()

    @property
    def session_words(self) -> list[str]:
        """The words that open the same session again."""
        words = [*repeat_option("--params", self.params), *repeat_option("--no-grad", self.no_grad)]
        words += [
            *repeat_option("--catch", self.catch),
            *repeat_option("--break", self.break_),
            *repeat_option("--watch", self.watch),
        ]
        for option, value in (("--feed", self.feed), ("--step", self.step), ("--history", self.history)):
            words += [] if value is None else [option, str(value)]
        return words
