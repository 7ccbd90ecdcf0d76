"""The gate: what the rules about gradients find in models."""

from __future__ import annotations

from typing import Any

import click

from ..context import Output, loading_options
from ..errors import CLEAN, FAILED


@click.command("check")
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@loading_options
@click.option("--select", multiple=True, metavar="CODE", help="Rules to apply: GT103, GT1, detached, ALL.")
@click.option("--ignore", multiple=True, metavar="CODE", help="Rules to leave out.")
@click.option("--extend-select", multiple=True, metavar="CODE", help="Rules to apply beside those that are on.")
@click.option("--feed", metavar="FILE.npz", help="Arrays to feed to programs, by name.")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "note"]),
    default="error",
    show_default=True,
    help="Exit with 1 where a finding matters as much.",
)
@click.option(
    "--golden", metavar="FILE.gt.txt|FOLDER", help="Compare graphs with those kept there: rules GT4; see --update."
)
@click.option("--update", is_flag=True, help="Write the files of --golden first, where graphs differ from them.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever is found.")
@click.option("--format", "form", metavar="FORM", default="full", show_default=True, help="Form of the findings.")
@click.option("--out", multiple=True, metavar="FORM=FILE", help="Write the findings in one more form; repeatable.")
@click.option("-o", "--output", metavar="FILE", help="Write the result to FILE, whole or not at all.")
@click.option("-q", "--quiet", is_flag=True, help="No notes on stderr.")
@click.option("--ascii", "ascii_", is_flag=True, help="ASCII characters only.")
def command(**values: Any) -> int:
    """Check each MODEL with the rules of the gate.

    \b
    gradtool check train.py
    gradtool check models/*.py --select GT1,GT2 --format concise
    gradtool check train.py --out sarif=findings.sarif --out junit=findings.xml
    gradtool check train.py --golden train.gt.txt

    gradtool rules lists the rules, gradtool rule GT103 explains one. Exit code 1 if there is an error, see --fail-on.
    """
    from gradtool.models.gate.checking import Selection
    from gradtool.models.gate.finding import Severity
    from gradtool.models.loader import Request
    from gradtool.models.questions.check import Check
    from gradtool.viz import gate

    out = Output(file=values.pop("output"), quiet=values.pop("quiet"), ascii=values.pop("ascii_"))
    form, others = values.pop("form"), [_form_and_file(text) for text in values.pop("out")]
    for name in (form, *(name for name, _ in others)):
        _must_be_a_form(name, gate.names())
    select, ignore, extend = (_codes(values.pop(name)) for name in ("select", "ignore", "extend_select"))
    exit_zero, models = values.pop("exit_zero"), values.pop("models")
    selection = Selection(select=select, ignore=ignore, extend=extend)
    question = Check(
        selection=selection,
        fail_on=Severity(values.pop("fail_on")),
        **{name: values.pop(name) for name in ("feed", "golden", "update")},
    )
    report = question.ask(models, Request.take({**values, "model": models[0]}), out)
    out.text(gate.rendered(report, form), {file: gate.rendered(report, name) for name, file in others})
    return FAILED if report.findings and not exit_zero else CLEAN


def _codes(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Options with comma lists, taken apart."""
    return tuple(code.strip() for text in texts for code in text.split(",") if code.strip())


def _form_and_file(text: str) -> tuple[str, str]:
    form, equals, file = text.partition("=")
    if not (form and equals and file):
        raise click.BadParameter(f"{text!r} is not FORM=FILE", param_hint="--out")
    return form, file


def _must_be_a_form(name: str, known: list[str]) -> None:
    if name not in known:
        from gradtool.models.errors import unknown

        raise unknown("form", name, known)
