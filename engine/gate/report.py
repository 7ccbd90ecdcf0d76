"""Findings of one call of the gate: findings of all models, and what was checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from ..core.answer import Answered
from ..core.records import dataclass
from ..kinds.watched_extent import WatchedPart
from .finding import EXTERNAL, IN_SOURCE, Finding, Severity, Suppressed
from .rule import Rule

UNCHECKED: Final = "GT901"
"""The code of what was not looked at; :mod:`.rules.unchecked` describes it."""


@dataclass(frozen=True, slots=True)
class Report(Answered):
    """Findings.

    Attributes:
        results: in the order of files and lines.
        models: the names of the models that were checked.
        rules: those that were applied.
        root: the folder that paths are relative to.
        fail_on: what matters as much makes the gate fail.
        suppressed: findings that do not count, in the same order.
        gone: how many stand there and are found no longer.
        all: what there would be without a baseline.
        scopes: by the name of a model, how much of its file was seen; none of a model that could not be run.
    """

    results: Sequence[Finding]
    models: Sequence[str]
    rules: Sequence[Rule]
    root: str
    fail_on: Severity = Severity.ERROR
    suppressed: Sequence[Suppressed] = ()
    gone: int = 0
    all: Sequence[Finding] = ()
    scopes: Mapping[str, WatchedPart] = field(default_factory=dict)

    @property
    def findings(self) -> int:
        """Number of findings that make the gate fail."""
        return sum(f.severity.reaches(self.fail_on) for f in self.results)

    @property
    def clean(self) -> bool | None:
        """Return whether there is no error and no warning; None where there is none in the part that was looked at."""
        if any(f.severity.reaches(Severity.WARNING) for f in self.results if f.code != UNCHECKED):
            return False
        # A model without a scope was not run: its graph alone was asked about.
        whole = all(scope.is_whole for scope in self.scopes.values())
        return None if not whole or any(f.code == UNCHECKED for f in self.results) else True

    @property
    def waiver_count(self) -> int:
        """Number of findings that comments in the source waive."""
        return sum(s.kind == IN_SOURCE for s in self.suppressed)

    @property
    def baseline_count(self) -> int:
        """Number of findings in the baseline."""
        return sum(s.kind == EXTERNAL for s in self.suppressed)

    def select_model(self, model: str) -> Report:
        """Return the report about one of the models."""
        return replace(
            self,
            results=[f for f in self.results if f.model == model],
            models=[model],
            suppressed=[s for s in self.suppressed if s.finding.model == model],
            gone=0,
            all=[f for f in self.all if f.model == model],
            scopes={model: self.scopes[model]} if model in self.scopes else {},
        )

    def count(self, severity: Severity) -> int:
        """Return the number of findings of one severity."""
        return sum(f.severity is severity for f in self.results)
