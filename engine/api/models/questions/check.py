"""``check``: what the rules of the gate find in models."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..errors import CommandError
from ..gate import checking, drift
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
        golden: the file that keeps the model's graph, or a folder with such a file for each model.
        update: write these files first, where they differ.
    """

    selection: Selection = field(default_factory=Selection)
    fail_on: Severity = Severity.ERROR
    feed: str | None = None
    golden: str | None = None
    update: bool = False

    def ask(self, models: Sequence[str], request: Request, notes: Notes = SILENT) -> Report:
        """Check models, one after the other.

        Args:
            models: as the command line names them.
            request: how they are loaded.

        Raises:
            CommandError: there is no such model or golden file, or a selector stands for no rule.
        """
        selection = dataclasses.replace(self.selection, golden=self.golden is not None)
        if self.update and self.golden is None:
            raise CommandError("--update writes golden files", "--golden FILE.gt.txt says which")
        found: list[Finding] = []
        for model in models:
            loaded = dataclasses.replace(request, model=model)
            kept = None if self.golden is None else drift.file_of(model, self.golden, models)
            if self.update and kept is not None:
                drift.update(loaded, kept, notes)
            found += checking.findings(loaded, model, selection, self.feed, kept)
        found.sort(key=lambda f: f.order)
        return Report(found, list(models), selection.rules(), os.getcwd(), self.fail_on)
