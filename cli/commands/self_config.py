"""Show which settings apply to commands, and where each comes from."""

from __future__ import annotations

from typing import Any

import click

from ..callbacks import call_in_context
from ..context import output_options
from ..help_pages import Command


@click.command("self config", cls=Command)
@click.argument("commands", nargs=-1, metavar="[COMMAND]...")
@click.option("--schema", is_flag=True, help="Print the JSON schema of gradtool.toml, for editors.")
@click.option("--all", "all_", is_flag=True, help="Show options that nobody has set, too.")
@output_options
@click.pass_context
def command(context: click.Context, /, commands: tuple[str, ...], schema: bool, all_: bool, **values: Any) -> int:
    """Show which settings apply to each COMMAND, and where they come from.

    \b
    gradtool self config
    gradtool self config check --all
    gradtool self config --schema -o gradtool.schema.json

    Settings come from the command line, GRADTOOL_… variables, gradtool.toml and [tool.gradtool] of pyproject.toml.
    """
    return call_in_context("self_config", context, {**values, "commands": commands, "schema": schema, "all_": all_})
