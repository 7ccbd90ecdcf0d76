"""Findings of ``gradtool check`` in the models of a test run: asked once, of all of them together.

The settings are those of ``check`` in this folder: configuration files, the environment, then ``--gradtool-select`` and
``--gradtool-ignore``. Waivers of files that several models read, and the baseline, need all models at once.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any

import click
import pytest

from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.core.records import dataclass
from gradtool.engine.gate.discovery import distinct
from gradtool.engine.gate.report import Report
from gradtool.engine.gate.subject import Subject

from ...engine.core.identity import identity
from .. import check_selection, commands, configuration
from ..backend_options import compute_on
from ..main import cli

_WRITES = {"update": "--update writes golden files", "write_baseline": "--write-baseline writes the baseline"}
"""Options of ``check`` that do something else than to check."""


@dataclass
class Gate:
    """The gate of a test run.

    Attributes:
        asked: what ``gradtool check`` would be asked here.
        folder: where pytest was called: what paths are relative to.
        place: the configuration file that has models, if one does.
        computing: the backend, its device, its precision and how many threads, where these are configured.
    """

    asked: check_selection.GateOptions
    folder: str
    place: str
    computing: tuple[str | None, str | None, str | None, int | None] = (None, None, None, None)
    _reports: dict[int, Report | CommandError] = field(default_factory=dict)

    @contextlib.contextmanager
    def here(self) -> Iterator[None]:
        """Inside, the current folder is the one that pytest was called in, wherever tests have gone."""
        with contextlib.chdir(self.folder):
            yield

    def models(self, path: str) -> list[Subject]:
        """The models in a file; those of the configuration file are the ones that are no files.

        Raises:
            CommandError: it says what it cannot.
        """
        with self.here():
            if self.place and _same(path, self.place):
                return [s for s in self.asked.models.list_configured() if not os.path.exists(s.file)]
            return self.asked.models.select([os.path.relpath(path)])

    def names(self, path: str) -> bool:
        """Return whether the configuration names a file, or is in it and names models that are no files."""
        return os.path.abspath(path) in self.files

    @cached_property
    def files(self) -> list[str]:
        """The files of the models that are configured, absolute."""
        with self.here():
            told = [s.file if os.path.exists(s.file) else self.place for s in self.asked.models.list_configured()]
        return [os.path.normpath(os.path.join(self.folder, file)) for file in dict.fromkeys(told)]

    def report(self, subject: Subject, all_: Sequence[Subject]) -> Report:
        """Return the findings in a model; the first time, all of them are checked.

        Args:
            subject: one of *all_*.

        Raises:
            CommandError: they cannot be asked.
        """
        if identity(subject) not in self._reports:
            self._check(all_)
        report = self._reports[identity(subject)]
        if isinstance(report, CommandError):
            raise report
        return report

    def _check(self, all_: Sequence[Subject]) -> None:
        named = distinct(all_)
        question = self.asked.question
        jobs = question.jobs if question.jobs is not None else os.cpu_count() or 1
        try:
            with self.here(), compute_on(*self.computing):
                whole = replace(question, jobs=jobs).ask(named)
        except CommandError as error:
            self._reports |= {identity(subject): error for subject in all_}
            return
        self._reports |= {identity(s): whole.select_model(n.name) for s, n in zip(all_, named, strict=True)}

    def fails(self, report: Report) -> bool:
        """Return whether ``gradtool check`` would fail."""
        return bool(report.findings) and not self.asked.exit_zero


def _same(path: str, other: str) -> bool:
    return os.path.abspath(path) == os.path.abspath(other)


def gate_of(config: Any) -> Gate:
    """The gate of a test run, which every item of it shares.

    Args:
        config: pytest's.

    Raises:
        pytest.UsageError: a file or a variable says what it cannot.
    """
    if _KEY not in config.stash:
        folder = str(config.invocation_params.dir)
        with contextlib.chdir(folder):
            config.stash[_KEY] = _gate(config, folder)
    shared: Gate = config.stash[_KEY]
    return shared


_KEY: pytest.StashKey[Gate] = pytest.StashKey()


def _gate(config: Any, folder: str) -> Gate:
    words = [w for name in ("select", "ignore") for v in config.getoption(f"gradtool_{name}") for w in (f"--{name}", v)]
    outer = click.Context(cli, info_name="gradtool")
    command = commands.load("check")
    try:
        configuration.set_defaults(outer, "check", command, words)
        context = command.make_context("check", words, parent=outer)
        values = dict(context.params)
        for name, what in _WRITES.items():
            if values[name]:
                raise CommandError(f"{what}, and a test compares with it", "say it to gradtool check")
        for name in ("models", "watch", "form", "out", "output", "quiet", "verbose", "ascii_", "show_files"):
            del values[name]
        on = values.pop("backend"), values.pop("device"), values.pop("precision"), values.pop("threads")
        asked = check_selection.read_options(context, values)
        _, source = configuration.settings_of(context).list_tables("models")
    except click.BadParameter as error:
        told = configuration.explain(error)
        assert isinstance(told, (click.BadParameter, CommandError))
        raise pytest.UsageError(f"gradtool: {told.message}") from None
    except CommandError as error:
        raise pytest.UsageError("\n".join(["gradtool: " + error.message, *error.lines()[1:]])) from None
    return Gate(asked, folder, "" if source is None else source.path, on)
