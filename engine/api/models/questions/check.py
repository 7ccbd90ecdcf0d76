"""``check``: what the rules of the gate find in models."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..gate import checking
from ..gate.checking import Selection
from ..gate.finding import Finding, Severity
from ..gate.report import Report
from ..loader import Request
from ..notes import SILENT, Notes


@dataclass(frozen=True, kw_only=True)
class Check:
    """Which rules are applied, and what makes the gate fail.

    Attributes:
        feed: a file of arrays to feed to programs.
    """

    selection: Selection = field(default_factory=Selection)
    fail_on: Severity = Severity.ERROR
    feed: str | None = None

    def ask(self, models: Sequence[str], request: Request, notes: Notes = SILENT) -> Report:
        """Check models, one after the other.

        Args:
            models: as the command line names them.
            request: how they are loaded.

        Raises:
            CommandError: there is no such model, or a selector stands for no rule.
        """
        found: list[Finding] = []
        for model in models:
            loaded = dataclasses.replace(request, model=model)
            found += checking.findings(loaded, model, self.selection, self.feed)
        found.sort(key=lambda f: f.order)
        return Report(found, list(models), self.selection.rules(), os.getcwd(), self.fail_on)
