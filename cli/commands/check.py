"""The gate: what the rules about gradients find in models."""

from __future__ import annotations

from typing import Any

import click

from ..computing import computing_options
from ..context import Output, loading_options
from ..errors import CLEAN, FAILED
from ..rules import rule_options


@click.command("check")
@click.argument("models", nargs=-1, metavar="[MODEL|DIRECTORY|GLOB]...")
@loading_options
@computing_options
@rule_options()
@click.option("--extend-select", multiple=True, metavar="CODE", help="Rules to apply beside those that are on.")
@click.option(
    "--train",
    type=click.IntRange(1),
    metavar="N",
    help="Look at N steps of training: GT703 makes them on one batch, GT705 watches the file's own.",
)
@click.option("--feed", metavar="FILE[ROWS]", help="Arrays to feed to programs, by name.")
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
@click.option("--baseline", metavar="FILE", help="Findings that are known already; new ones alone count.")
@click.option(
    "--write-baseline",
    is_flag=True,
    help="Write what is found to the baseline: --baseline FILE, or gradtool-baseline.json.",
)
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever is found.")
@click.option(
    "--jobs",
    type=click.IntRange(0),
    metavar="N",
    help="Models side by side, each in a process of its own; 0: one after the other in this process.  "
    "[default: 0 for one model, else the number of processors]",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=300.0,
    show_default=True,
    metavar="SECONDS",
    help="Give up a model in a process of its own after so many seconds.",
)
@click.option("--show-files", is_flag=True, help="List the models that would be checked, a line each, and stop there.")
@click.option("--watch", is_flag=True, help="Check again whenever a file changes, until Ctrl-C.")
@click.option("--no-cache", is_flag=True, help="Check every model anew, and keep nothing.")
@click.option(
    "--cache-dir",
    metavar="DIR",
    default=".gradtool_cache",
    show_default=True,
    help="Where it is kept what came of models in processes of their own.",
)
@click.option(
    "--format",
    "--output-format",
    "form",
    metavar="FORM",
    default="full",
    show_default=True,
    help="Form of the findings.",
)
@click.option("--out", multiple=True, metavar="FORM=FILE", help="Write the findings in one more form; repeatable.")
@click.option("-o", "--output", metavar="FILE", help="Write the result to FILE, whole or not at all.")
@click.option("-q", "--quiet", is_flag=True, help="No notes on stderr.")
@click.option("-v", "--verbose", count=True, help="More detail.")
@click.option("--ascii", "ascii_", is_flag=True, help="ASCII characters only.")
@click.pass_context
def command(context: click.Context, /, **values: Any) -> int:
    """Check models with the rules of the gate: each MODEL, and in each folder those that say so or are configured.

    \b
    gradtool check train.py
    gradtool check models/ --select GT1,GT2 --format concise
    gradtool check train.py --out sarif=findings.sarif --out junit=findings.xml
    gradtool check train.py --golden train.gt.txt

    Without a MODEL it looks at [[models]] of gradtool.toml, or at the files here with a line '# gradtool: model'.
    gradtool rules lists the rules, gradtool rule GT103 explains one. Exit code 1 if there is an error, see --fail-on.
    """
    from gradtool.viz import gate
    from gradtool.viz.text import inert, printable

    from .. import gating

    if values.pop("watch"):
        return gating.watched(context, values)
    looks = {name: values.pop(name) for name in ("quiet", "verbose")}
    out = Output(file=values.pop("output"), ascii=values.pop("ascii_"), **looks)
    form, others = values.pop("form"), [_form_and_file(text) for text in values.pop("out")]
    for name in (form, *(name for name, _ in others)):
        _must_be_a_form(name, gate.names())
    _must_be_distinct([file for _, file in others])
    words = values.pop("models")
    listed = values.pop("show_files")
    asked = gating.asked(context, values)
    models = asked.models.named(words)
    if listed:
        lines = [printable(model.target) for model in models]
        out.text(inert("".join(f"{line}\n" for line in dict.fromkeys(lines))))
        return CLEAN
    report = asked.question.ask(models, out)
    also = {file: gate.rendered(report, name) for name, file in others}
    if asked.writes:
        renewed, report = gating.accepted(report, asked.question.baseline)
        also[renewed.file] = renewed.text()
        out.note(f"{renewed.file}: {len(renewed.entries)} known findings")
    elif report.gone:
        out.note(f"{report.gone} findings of the baseline are found no longer: --write-baseline takes them out")
    out.text(gate.rendered(report, form), also)
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
        from gradtool.engine.core.command_errors import unknown

        raise unknown("form", name, known)
