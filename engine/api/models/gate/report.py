"""What the gate found in one call: findings of all models, and what was checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..answered import Answered
from .finding import Finding, Severity
from .rule import Rule


@dataclass(frozen=True, slots=True)
class Report(Answered):
    """Findings.

    Attributes:
        results: in the order of files and lines.
        models: the names of the models that were checked.
        rules: those that were applied.
        root: the folder that paths are relative to.
        fail_on: what matters as much makes the gate fail.
        waived: how many findings are meant to be, as comments in the source say.
        known: how many stand in the baseline.
        gone: how many stand there and are found no longer.
        all: what there would be without a baseline.
    """

    results: Sequence[Finding]
    models: Sequence[str]
    rules: Sequence[Rule]
    root: str
    fail_on: Severity = Severity.ERROR
    waived: int = 0
    known: int = 0
    gone: int = 0
    all: Sequence[Finding] = ()

    @property
    def findings(self) -> int:
        """How many findings make the gate fail."""
        return sum(f.severity.reaches(self.fail_on) for f in self.results)

    def count(self, severity: Severity) -> int:
        """How many findings are of one severity."""
        return sum(f.severity is severity for f in self.results)
