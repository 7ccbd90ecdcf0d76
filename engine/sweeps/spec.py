"""Specification of a sweep: the question, its options, how models are loaded; plain data for other processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from ..core.command_errors import CommandError, unknown
from ..core.records import dataclass
from ..data import arrays, row_syntax
from ..request.request import Request
from .point import Point
from .summaries import KINDS, SweepQuestion


@dataclass(frozen=True, kw_only=True)
class Spec:
    """The question and how models are loaded.

    Attributes:
        question: a name in :data:`~gradtool.engine.sweeps.summaries.KINDS`.
        options: fields of its question.
        loading: options of a :class:`~gradtool.engine.request.request.Request`; words of a script may
            hold ``{NAME}`` of a setting.
        dtype: what floating numbers of the data become; None to leave them as they are.
    """

    question: str
    options: Mapping[str, Any] = field(default_factory=dict)
    loading: Mapping[str, Any] = field(default_factory=dict)
    dtype: str | None = None

    def __post_init__(self) -> None:
        if self.question not in KINDS:
            raise unknown("question", self.question, KINDS)
        for name in self.options:
            if name not in self.kind.options:
                others = ", ".join(kind for kind, row in KINDS.items() if name in row.options)
                option = "--" + name.replace("_", "-")
                raise CommandError(f"{option} is no option of {self.question}", f"it is one of: {others}")

    @property
    def kind(self) -> SweepQuestion:
        """Question of the sweep."""
        return KINDS[self.question]

    def data(self) -> dict[str, Any]:
        """As JSON's types."""
        return {
            "question": self.question,
            "options": dict(self.options),
            "loading": dict(self.loading),
            "dtype": self.dtype,
        }

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Spec:
        """Read a specification from what :meth:`data` returned."""
        return cls(**data)

    def request(self, point: Point) -> Request:
        """Return the request that loads the model at a point; reads the data."""
        loading: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in self.loading.items()}
        script, arg = tuple(loading.pop("script", ())), tuple(loading.pop("arg", ()))
        settings = dict(point.settings)
        named = {name for name in settings if any(f"{{{name}}}" in word for word in script)}
        for name in named:
            script = tuple(word.replace(f"{{{name}}}", settings[name]) for word in script)
        arg += tuple(f"{name}={value}" for name, value in point.settings if name not in named)
        given = None if point.portion is None else arrays.take(point.portion, point.chosen, self.dtype)
        return Request.create(
            point.model,
            arg=arg,
            script=script,
            seed=point.seed,
            arrays=given,
            unfinished=True,
            **loading,
        )

    def words(self, point: Point) -> list[str] | None:
        """The words of a command line that asks the same at one point; None where words cannot say it."""
        fed = None
        if point.portion is not None:
            if self.dtype is not None:
                return None
            fed = row_syntax.rows_word(point.portion, point.chosen)
            if fed is None:
                return None
        loading: dict[str, Any] = dict(self.loading)
        script, arg = tuple(loading.pop("script", ())), tuple(loading.pop("arg", ()))
        for name, value in point.settings:
            if any(f"{{{name}}}" in word for word in script):
                script = tuple(word.replace(f"{{{name}}}", value) for word in script)
            else:
                arg += (f"{name}={value}",)
        return [
            "gradtool",
            self.question,
            *Request.create(point.model, arg=arg, script=script, seed=point.seed, fed=fed, **loading).words(),
        ]
