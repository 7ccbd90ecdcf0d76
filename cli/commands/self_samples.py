"""List, show or copy the sample models that come with gradtool."""

from __future__ import annotations

from typing import Any

import click

from ..callbacks import call
from ..context import output_options
from ..help_pages import Command


@click.command("self samples", cls=Command)
@click.argument("action", type=click.Choice(["list", "show", "copy"]), default="list")
@click.argument("name", required=False, metavar="[NAME]")
@click.argument("folder", required=False, default=".", metavar="[FOLDER]")
@output_options
def command(action: str, name: str | None, folder: str, **values: Any) -> int:
    """List the sample models, show the source of one (show NAME), or copy it (copy NAME DIR, copy all DIR).

    DIR is the current folder unless you name another; no file there is overwritten.
    """
    return call("self_samples", {**values, "action": action, "name": name, "folder": folder})
