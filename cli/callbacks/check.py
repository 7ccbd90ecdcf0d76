"""Callback of ``gradtool check``."""

from __future__ import annotations

from typing import Any

import click

from gradtool.engine.core.command_errors import unknown
from gradtool.viz import gate
from gradtool.viz.text import inert, printable

from .. import check_selection
from ..context import Output
from ..errors import CLEAN, FAILED


def run(context: click.Context, values: dict[str, Any]) -> int:
    """Run the command; return its exit code."""
    if values.pop("watch"):
        return check_selection.watch(context, values)
    looks = {name: values.pop(name) for name in ("quiet", "verbose")}
    out = Output(file=values.pop("output"), ascii=values.pop("ascii_"), **looks)
    form, others = values.pop("form"), [_form_and_file(text) for text in values.pop("out")]
    for name in (form, *(name for name, _ in others)):
        _must_be_a_form(name, gate.names())
    _must_be_distinct([file for _, file in others])
    words = values.pop("models")
    listed = values.pop("show_files")
    asked = check_selection.read_options(context, values)
    models = asked.models.select(words)
    if listed:
        lines = [printable(model.target) for model in models]
        out.text(inert("".join(f"{line}\n" for line in dict.fromkeys(lines))))
        return CLEAN
    report = asked.question.ask(models, out)
    also = {file: gate.render(report, name) for name, file in others}
    if asked.writes:
        renewed, report = check_selection.accept(report, asked.question.baseline)
        also[renewed.file] = renewed.text()
        out.note(f"{renewed.file}: {len(renewed.entries)} known findings")
    elif report.gone:
        out.note(f"{report.gone} findings of the baseline are found no longer: --write-baseline takes them out")
    out.text(gate.render(report, form), also)
    return FAILED if report.findings and not asked.exit_zero else CLEAN


def _form_and_file(text: str) -> tuple[str, str]:
    form, equals, file = text.partition("=")
    if not (form and equals and file):
        raise click.BadParameter(f"{text!r} is not FORM=FILE", param_hint="--out")
    return form, file


def _must_be_distinct(files: list[str]) -> None:
    """Raise where two forms would be written to one file."""
    twice = next((file for number, file in enumerate(files) if file in files[:number]), None)
    if twice is not None:
        raise click.BadParameter(f"two forms would be written to {twice}", param_hint="--out")


def _must_be_a_form(name: str, known: list[str]) -> None:
    if name not in known:
        raise unknown("form", name, known)
