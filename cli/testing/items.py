"""Models as tests: ``pytest --gradtool models/`` gives each of them the verdict that ``gradtool check`` gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.gate import subject


def is_marked(file: Path) -> bool:
    """Return whether a file declares that it is a model, in a line ``# gradtool: model``."""
    try:
        return subject.has_marker(file.read_bytes())
    except OSError:
        return False


def is_configured(file: Path, config: pytest.Config) -> bool:
    """Return whether ``[[models]]`` of the configuration names a file."""
    from .check_findings import gate_of

    return gate_of(config).names(str(file))


def elsewhere(config: pytest.Config) -> list[str]:
    """The files of configured models outside of what is collected."""
    from .check_findings import gate_of

    collected = [config.invocation_params.dir / arg.partition("::")[0] for arg in config.args]
    return [file for file in gate_of(config).files if not any(Path(file).is_relative_to(at) for at in collected)]


class ModelFile(pytest.File):
    """A model file."""

    def collect(self) -> Iterator[pytest.Item]:
        """A test for each of its models.

        Raises:
            pytest.Collector.CollectError: it says what it cannot of them.
        """
        from .check_findings import gate_of

        try:
            models = gate_of(self.config).models(str(self.path))
        except CommandError as error:
            raise self.CollectError("\n".join(error.lines())) from None
        for model in models:
            name = "gradtool" if len(models) == 1 else f"gradtool[{model.name}]"
            yield ModelItem.from_parent(self, name=name, model=model)


class GateFailure(Exception):
    """The rules found something that makes the gate fail; its text is the report."""


class ModelItem(pytest.Item):
    """The rules of the gate, applied to a model.

    Attributes:
        model: a :class:`~gradtool.engine.gate.subject.Subject`.
    """

    def __init__(self, *, model: Any, **more: Any) -> None:
        super().__init__(**more)
        self.model = model

    def runtest(self) -> None:
        """Apply the rules.

        Raises:
            Findings: ``gradtool check`` would fail.
        """
        from gradtool.viz import gate

        from .check_findings import gate_of

        everything = gate_of(self.config)
        models = [item.model for item in self.session.items if isinstance(item, ModelItem)]
        report = everything.report(self.model, models)
        text = gate.render(report, "full").rstrip()
        if everything.fails(report):
            raise GateFailure(text)
        if report.results:
            self.add_report_section("call", "gradtool", text)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The report alone, and of what could not be asked the reason."""
        error = excinfo.value
        if isinstance(error, GateFailure):
            return str(error)
        if isinstance(error, CommandError):
            return "\n".join(error.lines())
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the heading of a failure."""
        name = self.model.name
        return self.path, None, f"gradtool check {self.model.target}{'' if name == self.model.target else f' ({name})'}"
