"""A request: the address of a model, how its file is run, and what is noted meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields, replace
from typing import Any, Final, Self

from ..core.records import dataclass
from ..core.wording import ScriptWord
from ..data import row_syntax
from .limits import ALL, LOADING


@dataclass(frozen=True, kw_only=True)
class Objective:
    """The value that is differentiated.

    Attributes:
        loss: name of the loss; found by the model when None.
        loss_fn: what compares the output of a saved program with a label: one of ``limits.LOSS_FUNCTIONS``.
        label: name of that label.
        need_loss: a model without a loss is refused.
    """

    loss: str | None = None
    loss_fn: str | None = None
    label: str | None = None
    need_loss: bool = True


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of the run of a file: its arguments, and what stops it.

    Attributes:
        arg: arguments of the function, ``NAME=VALUE`` each.
        script: arguments of the script, which are not gradtool's.
        seed: seed of the random numbers.
        mode: ``auto``, ``static`` or ``eager``.
        engine: what runs a script: gradtool itself, or real ``paddle`` in a process of its own.
        steps: backward passes after which the file is stopped; None for :data:`.limits.ENOUGH` of them, and not before
            :data:`.limits.PATIENCE` is over.
        limit: seconds after which the file is stopped.
        write: keep what the file writes; else it goes into an overlay, see ``gradtool.engine.files.overlay``.
        spared: lines at which a model of dynamic mode is not cut, see ``gradtool.engine.eager.journal.Journal``.
        called: name of the model in commands, where that is not its address: a run that was recorded in this process.
    """

    arg: tuple[str, ...] = ()
    script: tuple[str, ...] = ()
    seed: int = 0
    mode: str = "auto"
    engine: str = "gradtool"
    steps: int | None = None
    limit: float | None = None
    write: bool = False
    spared: tuple[tuple[str, int], ...] = ()
    called: str = ""


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """Arrays that the model is fed.

    Attributes:
        arrays: what programs are fed, and a function of dynamic mode is called with, by name; one without a name under
            None.
        fed: the word that gives these arrays, where they are rows of a file.
        feed: file that is fed where the program runs; its arrays give sizes that a saved model leaves open.
    """

    arrays: Mapping[str | None, Any] | None = None
    fed: str | None = None
    feed: str | None = None


@dataclass(frozen=True, kw_only=True)
class RecordOptions:
    """Details that are noted while the file runs.

    Attributes:
        full_stacks: note the whole stack of each operator.
        journal: note what the tape does not hold.
        unfinished: go on with what had run when the file or its function raises; the error is then in
            :attr:`Loaded.error`.
        post_mortem: the question is about that error; implies *unfinished*.
    """

    full_stacks: bool = False
    journal: bool = False
    unfinished: bool = False
    post_mortem: bool = False


@dataclass(frozen=True)
class Request:
    """Address of a model, and options of how it is loaded.

    Attributes:
        model: address of the model.
        as_module: the model is a module that is run as by ``python -m``.
        stdin_filename: name of a program that standard input holds.
        backward: which of several backward passes of the file: a number, or ``line:FILE:LINE``.
        objective: what is differentiated.
        run: how the file runs.
        inputs: arrays that the model is fed.
        record: what is noted meanwhile.
    """

    model: str
    as_module: bool = False
    stdin_filename: str = "<stdin>"
    backward: str | None = None
    objective: Objective = field(default_factory=Objective)
    run: RunOptions = field(default_factory=RunOptions)
    inputs: Inputs = field(default_factory=Inputs)
    record: RecordOptions = field(default_factory=RecordOptions)

    @classmethod
    def create(cls, model: str, **options: Any) -> Request:
        """Return the request with some options, by the names of :data:`OPTIONS`.

        Raises:
            TypeError: there is no such option.

        >>> Request.create("model.py", seed=3, loss="total").words()
        ['model.py', '--loss', 'total', '--seed', '3']
        """
        return cls(model).change(**options)

    def change(self, **options: Any) -> Self:
        """Return the same request with other values of some options, by the names of :data:`OPTIONS`.

        Raises:
            TypeError: there is no such option.
        """
        own: dict[str, Any] = {}
        grouped: dict[str, dict[str, Any]] = {}
        for name, value in options.items():
            group = OPTIONS.get(name)
            if group is None and name not in OPTIONS:
                raise TypeError(f"a request has no option {name!r}")
            (own if group is None else grouped.setdefault(group, {}))[name] = value
        return replace(self, **own, **{name: replace(getattr(self, name), **new) for name, new in grouped.items()})

    def options(self) -> dict[str, Any]:
        """Return the value of each option."""
        return {name: getattr(getattr(self, group) if group else self, name) for name, group in OPTIONS.items()}

    @classmethod
    def take(cls, options: dict[str, Any], **more: Any) -> Request:
        """Take the model options of a command out of *options*."""
        taken = {n: options.pop(n) for n in ("model", *LOADING) if n != "steps"}
        fed = options.pop("fed", None)
        if fed is not None:
            more |= {"fed": fed, "arrays": row_syntax.take(fed)}
        steps = more.pop("steps", None) or options.pop("steps", None)
        return cls.create(**taken, steps=steps, **{"unfinished": True, **more})

    def words(self) -> list[str]:
        """Return the words that other commands need to load the same model."""
        words = ["-m", self.model] if self.as_module else [self.run.called or self.model]
        for option, value, usual in (
            ("--loss", self.objective.loss, None),
            ("--loss-fn", self.objective.loss_fn, None),
            ("--label", self.objective.label, None),
            ("--seed", self.run.seed, 0),
            ("--mode", self.run.mode, "auto"),
            ("--engine", self.run.engine, "gradtool"),
            ("--backward", self.backward, None),
            ("--limit", None if self.run.limit is None else f"{self.run.limit:g}", None),
        ):
            if value != usual:
                words += [option, str(value)]
        if self.run.steps is not None:
            words += ["--steps", "all" if self.run.steps == ALL else str(self.run.steps)]
        if self.run.write:
            words.append("--write")
        for pair in self.run.arg:
            words += ["--arg", pair]
        if self.inputs.fed is not None:
            words += ["--feed", self.inputs.fed]
        return words + ([*map(ScriptWord, ("--", *self.run.script))] if self.run.script else [])


_GROUPS: Final = {"objective": Objective, "run": RunOptions, "inputs": Inputs, "record": RecordOptions}

OPTIONS: Final[Mapping[str, str | None]] = {
    **{each.name: None for each in fields(Request) if each.name != "model" and each.name not in _GROUPS},
    **{each.name: group for group, kind in _GROUPS.items() for each in fields(kind)},
}
"""Name of an option -> the group that holds it; None for those of the request itself."""
