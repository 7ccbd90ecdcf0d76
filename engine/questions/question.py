"""A question about a model: its options, made once of a command line's values or Python's keywords, and its answer."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, ClassVar, Generic, Self, TypeVar

from ..answers.why.answers import Answer
from ..core.notes import SILENT, Notes
from ..core.records import dataclass
from ..kinds.model import Model
from ..kinds.run_notes import pass_before
from ..loading import loader, opening
from ..request.options import take_options
from ..request.request import Request

A = TypeVar("A")


@dataclass(frozen=True, kw_only=True)
class Question(ABC, Generic[A]):
    """Options as fields, named as the command line names them.

    Attributes:
        needs: what has to be noted while a model is loaded for this question: fields of
            :class:`~gradtool.engine.request.request.Request`.
    """

    needs: ClassVar[Mapping[str, Any]] = {}

    def __post_init__(self) -> None:
        # In Python a single selector may stand for itself, and a path may be any.
        for field in fields(self):
            value = getattr(self, field.name)
            if str(field.type).startswith("tuple"):
                entries = (value,) if isinstance(value, str) else tuple(value)
                object.__setattr__(self, field.name, entries)
            elif isinstance(value, os.PathLike):
                object.__setattr__(self, field.name, os.fspath(value))

    @classmethod
    def take(cls, values: dict[str, Any]) -> Self:
        """The question that a command's *values* ask, which are taken out of them.

        What kernels run on is chosen around most commands, and no value of theirs.
        """
        return cls(**take_options(cls, values))

    def ask(self, request: Request, notes: Notes = SILENT) -> A:
        """Load a model and answer.

        Raises:
            CommandError: there is no such model, or an option does not fit it.
            ModelError: the user's code raised.
            GradtoolError: the engine refused.
        """
        request = self.adapt(request)
        with loader.run_model(request, notes) as left:
            before = pass_before(left)
            if before is None:
                return self.answer(opening.model_in(left, request), notes)
            from .why import failure_in

            failure = failure_in(left)
            request = replace(request, backward=str(before))
            with left.mean_before_failure(before):
                answer = self.answer(opening.model_in(left, request), notes)
        return answer if failure is None else self.add_failure(answer, failure)

    def adapt(self, request: Request) -> Request:
        """*request* with what this question needs of a model that is loaded for it."""
        return request.change(feed=getattr(self, "feed", None) or request.inputs.feed, **self.needs)

    def add_failure(self, answer: A, failure: Answer) -> A:
        """*answer* about the last backward pass before one failed; of the failure, the error alone is told."""
        return answer

    @abstractmethod
    def answer(self, model: Model, notes: Notes = SILENT) -> A:
        """The answer about a model that is loaded."""
