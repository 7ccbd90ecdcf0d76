"""Check models with all rules about gradients: the gate for CI."""

from __future__ import annotations

from typing import Any

import click

from ..backend_options import add_backend_options
from ..callbacks import call_in_context
from ..context import add_model_options, ascii_option, feed_option, note_options
from ..help_pages import Command
from ..rare_options import RareOption
from ..rules import rule_options


@click.command("check", cls=Command)
@click.argument("models", nargs=-1, metavar="[MODEL|DIRECTORY|GLOB]...")
@add_model_options
@add_backend_options
@rule_options()
@click.option(
    "--extend-select", cls=RareOption, multiple=True, metavar="CODE", help="Apply these rules, too; repeatable."
)
@click.option(
    "--train",
    type=click.IntRange(1),
    metavar="N",
    help="Look at N steps of training: GT703 makes them on one batch, GT705 watches those of the file.",
)
@feed_option
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "note"]),
    default="error",
    show_default=True,
    help="Exit with 1 if a finding is as severe as this.",
)
@click.option("--golden", metavar="FILE.gt.txt|FOLDER", help="Compare graphs with those kept there: rules GT4.")
@click.option("--update", is_flag=True, help="Write the files of --golden first if graphs differ from them.")
@click.option("--baseline", metavar="FILE", help="Ignore the findings that are known in FILE.")
@click.option(
    "--write-baseline",
    is_flag=True,
    help="Write the findings to --baseline FILE, or to gradtool-baseline.json.",
)
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings.")
@click.option(
    "--jobs",
    cls=RareOption,
    type=click.IntRange(0),
    metavar="N",
    help="Check N models at a time, each in its own process; 0: one after the other in this one.  "
    "[default: 0 for one model, else the number of processors]",
)
@click.option(
    "--timeout",
    cls=RareOption,
    type=click.FloatRange(0, min_open=True),
    default=300.0,
    show_default=True,
    metavar="SECONDS",
    help="Stop a model in a process of its own after so many seconds.",
)
@click.option("--show-files", cls=RareOption, is_flag=True, help="List the models that would be checked, and stop.")
@click.option("--watch", is_flag=True, help="Check again whenever a file changes, until Ctrl-C.")
@click.option("--no-cache", cls=RareOption, is_flag=True, help="Check every model again, and store nothing.")
@click.option(
    "--cache-dir",
    cls=RareOption,
    metavar="DIR",
    default=".gradtool_cache",
    show_default=True,
    help="Store the results of models in DIR.",
)
@click.option(
    "--format",
    "--output-format",
    "form",
    metavar="FORM",
    default="full",
    show_default=True,
    help="Choose the form of the findings.",
)
@click.option("--out", multiple=True, metavar="FORM=FILE", help="Write the findings in another form, too; repeatable.")
@click.option("-o", "--output", metavar="FILE", help="Write the result to FILE, whole or not at all.")
@note_options
@ascii_option
@click.pass_context
def command(context: click.Context, /, **values: Any) -> int:
    """Check models with all rules: each MODEL, and in each folder the models that are marked or configured.

    \b
    gradtool check train.py
    gradtool check models/ --select GT1,GT2 --format concise
    gradtool check train.py --out sarif=findings.sarif --out junit=findings.xml
    gradtool check train.py --golden train.gt.txt

    Without a MODEL it checks [[models]] of gradtool.toml, or the files here that have a line '# gradtool: model'.
    gradtool explain --rules lists the rules, gradtool explain GT103 explains one. Exit code 1: there is an error, or
    what --fail-on says.
    """
    return call_in_context("check", context, values)
