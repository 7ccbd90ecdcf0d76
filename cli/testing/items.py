"""Model files as tests: ``pytest --gradtool models/`` checks each of them with the rules of the gate."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

_MODELS: Final = (".ipynb", ".pdmodel", ".json", ".gt.json")
"""Endings of models that are no Python files."""


def is_marked(file: Path) -> bool:
    """Whether a file says that it is a model, in a line ``# gradtool: model``."""
    from gradtool.models.gate import subject

    try:
        return subject.marked(file.read_bytes())
    except OSError:
        return False


def is_model(file: Path) -> bool:
    """Whether a file that is no Python file can be a model."""
    return file.name.endswith(_MODELS)


class ModelFile(pytest.File):
    """A model file."""

    def collect(self) -> Iterator[pytest.Item]:
        """Its one test."""
        yield ModelItem.from_parent(self, name="gradtool")


class Findings(Exception):
    """The rules found something that makes the gate fail; its text is the report."""


class ModelItem(pytest.Item):
    """The rules of the gate, applied to a model file."""

    def runtest(self) -> None:
        """Apply the rules.

        Raises:
            Findings: a finding is an error.
        """
        from gradtool.models.gate.discovery import Models
        from gradtool.models.gate.policy import Policy
        from gradtool.models.gate.selection import Selection
        from gradtool.models.questions.check import Check
        from gradtool.viz import gate

        option = self.config.getoption
        select, ignore = _codes(option("gradtool_select")), _codes(option("gradtool_ignore"))
        model = os.path.relpath(self.path)
        policy = Policy(selection=Selection(select=select, ignore=ignore))
        report = Check(policy=policy, jobs=0).ask(Models().named([model]))
        text = gate.rendered(report, "full").rstrip()
        if report.findings:
            raise Findings(text)
        if report.results:
            self.add_report_section("call", "gradtool", text)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The report alone, and of what could not be asked the reason."""
        from gradtool.models.errors import CommandError

        error = excinfo.value
        if isinstance(error, Findings):
            return str(error)
        if isinstance(error, CommandError):
            return "\n".join(error.lines())
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """What stands over a failure."""
        return self.path, None, f"gradtool check {os.path.relpath(self.path)}"


def _codes(texts: list[str]) -> tuple[str, ...]:
    return tuple(code.strip() for text in texts for code in text.split(",") if code.strip())
