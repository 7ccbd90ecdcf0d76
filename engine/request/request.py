"""A request: the address of a model, how its file is run, and what is noted meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..core.wording import ScriptWord
from .limits import ALL, ENOUGH, LOADING


@dataclass(frozen=True)
class Request:
    """What to load; made from the options of ``context.model_options``."""

    model: str
    loss: str | None = None
    arg: tuple[str, ...] = ()
    seed: int = 0
    mode: str = "auto"
    stdin_filename: str = "<stdin>"
    script: tuple[str, ...] = ()
    """The arguments of a script, which are not gradtool's."""
    as_module: bool = False
    """The model is a module that is run as by ``python -m``."""
    backward: str | None = None
    """The backward pass that is asked about, of several that the file makes: a number, or ``line:FILE:LINE``."""
    steps: int = ENOUGH
    """The file is stopped where it asks for more backward passes."""
    limit: float | None = None
    """The file is stopped after so many seconds."""
    write: bool = False
    """What it writes stays; else it goes into an overlay, see ``gradtool.engine.files.overlay``."""
    loss_fn: str | None = None
    """What compares the output of a saved program with a label: one of ``limits.LOSS_FUNCTIONS``."""
    label: str | None = None
    """The name of that label."""
    full_stacks: bool = False
    need_loss: bool = True
    journal: bool = False
    unfinished: bool = False
    """Go on with what had run when the file or its function raises; the error is then in :attr:`Loaded.error`."""
    post_mortem: bool = False
    """What is asked about is that error; implies *unfinished*."""
    arrays: Mapping[str | None, Any] | None = None
    """What programs are fed, and a function of dynamic mode is called with, by name; one without a name under None."""
    fed: str | None = None
    """The word that says these, where they are rows of a file."""
    feed: str | None = None
    """The file of what is fed where the program runs: its arrays say sizes that a saved model leaves open."""
    engine: str = "gradtool"
    """What runs a script: gradtool itself, or real ``paddle`` in a process of its own."""
    spared: tuple[tuple[str, int], ...] = ()
    """Lines at which a model of dynamic mode is not cut, see ``gradtool.engine.eager.journal.Journal``."""

    @classmethod
    def take(cls, options: dict[str, Any], **more: Any) -> Request:
        """The model options of a command, taken out of *options*."""
        taken = {n: options.pop(n) for n in ("model", *LOADING) if n != "steps"}
        fed = options.pop("fed", None)
        if fed is not None:
            from ..data import words

            more |= {"fed": fed, "arrays": words.taken(fed)}
        steps = more.pop("steps", None) or options.pop("steps", None) or ENOUGH
        return cls(**taken, steps=steps, unfinished=more.pop("unfinished", True), **more)

    def words(self) -> list[str]:
        """The words that other commands need to load the same model."""
        words = ["-m", self.model] if self.as_module else [self.model]
        for option, value, usual in (
            ("--loss", self.loss, None),
            ("--loss-fn", self.loss_fn, None),
            ("--label", self.label, None),
            ("--seed", self.seed, 0),
            ("--mode", self.mode, "auto"),
            ("--engine", self.engine, "gradtool"),
            ("--backward", self.backward, None),
            ("--limit", None if self.limit is None else f"{self.limit:g}", None),
        ):
            if value != usual:
                words += [option, str(value)]
        if self.steps != ENOUGH:
            words += ["--steps", "all" if self.steps == ALL else str(self.steps)]
        if self.write:
            words.append("--write")
        for pair in self.arg:
            words += ["--arg", pair]
        if self.fed is not None:
            words += ["--feed", self.fed]
        return words + ([*map(ScriptWord, ("--", *self.script))] if self.script else [])
