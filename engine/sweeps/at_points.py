"""``sweep``: one question at many points, of feeds, rows, seeds, settings and models."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from ..core.command_errors import CommandError
from ..core.records import dataclass
from ..request.limits import LOADING
from ..request.request import Request
from . import axes, ranges
from .axes import Axes
from .spec import Spec
from .sweep import Means, Sweep, Swept, Told

_OF_QUESTIONS: Final = ("by", "big", "subnormal", "order", "params", "no_grad", "select", "ignore")
_OF_THE_SWEEP: Final = frozenset({"seed", "stdin_filename"})
"""What a sweep says of loading by itself: seeds are points, and standard input cannot be read at each of them."""

Path = str | os.PathLike[str]


@dataclass(frozen=True, kw_only=True)
class AtPoints:
    """The points and what is asked there; in Python, ranges may be what they are made of.

    Attributes:
        question: ``nan``, ``stats``, ``why``, ``gradcheck``, ``check``, ``backward`` or ``saved``.
        over: files of arrays, or patterns of such, each fed as a whole.
        rows: a file of arrays that is fed row by row, or ``FILE:BATCH`` rows at a time.
        dtype: what floating numbers of the data become.
        seeds: ``"0..999"``, or the numbers.
        set: name of an argument -> ``"1e-4..1e-1:log:20"`` or its values; or a list of ``"lr=0.1,0.2"``.
        by, big, subnormal, order, params, no_grad, select, ignore: options of the question.
        jobs, scheduler, timeout, memory: as :class:`~gradtool.engine.sweeps.sweep.Means` has them.
        results: the file of rows, written as they come.
        resume: go on with what that file holds.
    """

    question: str
    over: Path | Sequence[Path] = ()
    rows: Path | None = None
    dtype: str | None = None
    seeds: str | Iterable[int] | None = None
    set: Mapping[str, str | Iterable[Any]] | Sequence[str] = ()
    by: str | None = None
    big: float | None = None
    subnormal: bool = False
    order: int | None = None
    params: str | Sequence[str] = ()
    no_grad: str | Sequence[str] = ()
    select: str | Sequence[str] = ()
    ignore: str | Sequence[str] = ()
    jobs: int = 1
    scheduler: str | None = None
    timeout: float | None = None
    memory: int | None = None
    results: Path | None = None
    resume: bool = False

    def ask(self, models: Sequence[str], request: Request, told: Told = lambda done, total: None) -> Swept:
        """The row of every point.

        Args:
            models: which, each as ``gradtool.load`` takes it.
            request: how each of them is loaded.
            told: is told how many points are done, and of how many.

        Raises:
            CommandError: what is asked for cannot be; every point refuses the question; or client and workers differ.
            Interrupted: Ctrl-C was pressed; it has the rows that there are.
        """
        options, usual = request.options(), Request("").options()
        loading = {name: _plain(options[name]) for name in LOADING if name not in _OF_THE_SWEEP}
        spec = Spec(
            question=self.question,
            loading={name: value for name, value in loading.items() if value and value != usual[name]},
            options=self._options(),
            dtype=self.dtype,
        )
        sweep = Sweep(
            spec=spec,
            axes=self._axes(models, request.run.seed),
            means=Means(jobs=self.jobs, scheduler=self.scheduler, timeout=self.timeout, memory=self.memory),
            results=None if self.results is None else os.fspath(self.results),
            resume=self.resume,
        )
        return sweep.ask(told)

    def ask_with(self, request: Request, patterns: Sequence[str]) -> Swept:
        """Return the rows of the model of a request, and of those whose files match patterns."""
        return self.ask(axes.models([request.model], patterns), request)

    def _options(self) -> dict[str, Any]:
        """Those options of the question that are set."""
        values = {name: getattr(self, name) for name in _OF_QUESTIONS}
        for name in ("params", "no_grad", "select", "ignore"):
            values[name] = _several(values[name])
        return {name: value for name, value in values.items() if value is not None and value not in ([], False)}

    def _axes(self, models: Sequence[str], seed: int) -> Axes:
        over = _several(self.over)
        if self.rows is not None and over:
            raise CommandError("--over feeds files as a whole and --rows one file by rows: a sweep has one of them")
        data, batches = (None, ()) if self.rows is None else ranges.batches(os.fspath(self.rows))
        told = Axes(
            models=tuple(models),
            seeds=(seed,) if self.seeds is None else ranges.seeds(_as_words(self.seeds)),
            settings=tuple(map(ranges.parse_setting, self._settings())),
            feeds=tuple(dict.fromkeys(file for text in over for file in axes.files(text, "--over"))),
            data=data,
            batches=batches,
        )
        if not any((told.models[1:], told.seeds[1:], told.settings, told.feeds, told.data)):
            raise CommandError(
                "one point is no sweep: nothing is gone through",
                "add --rows FILE, --over FILES, --seeds 0..99, --set NAME=VALUES or --models GLOB",
            )
        return told

    def _settings(self) -> Iterable[str]:
        if isinstance(self.set, Mapping):
            return [f"{name}={_as_words(values)}" for name, values in self.set.items()]
        return _several(self.set)


def _several(value: Path | Sequence[Path]) -> list[str]:
    """A list of words, also of one that stands for itself."""
    return [os.fspath(v) for v in ((value,) if isinstance(value, (str, os.PathLike)) else value)]


def _as_words(values: str | Iterable[Any]) -> str:
    """Values as a command line has them."""
    return values if isinstance(values, str) else ",".join(map(str, values))


def _plain(value: Any) -> Any:
    """In JSON's types."""
    return list(value) if isinstance(value, tuple) else value
