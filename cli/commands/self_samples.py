"""List, show or copy the sample models that come with gradtool."""

from __future__ import annotations

import os
from typing import Any

import click

from gradtool.engine.core.command_errors import CommandError, unknown

from ..context import Output, output_options
from ..files import make_folder
from ..help_pages import Command


@click.command("self samples", cls=Command)
@click.argument("action", type=click.Choice(["list", "show", "copy"]), default="list")
@click.argument("name", required=False, metavar="[NAME]")
@click.argument("folder", required=False, default=".", metavar="[FOLDER]")
@output_options
def command(action: str, name: str | None, folder: str, **values: Any) -> None:
    """List the sample models, show the source of one (show NAME), or copy it (copy NAME DIR, copy all DIR).

    DIR is the current folder unless you name another; no file there is overwritten.
    """
    out = Output.take(values)
    from gradtool.viz.views import samples as views

    from ..guide import samples

    names = samples.names()
    if action != "list" and name is None:
        raise CommandError(f"{action} which sample?", f"gradtool self samples {action} {names[0]}")
    if name is not None and name not in names and (action, name) != ("copy", "all"):
        raise unknown("sample", name, names)
    wanted = [samples.sample(each) for each in (names if name in (None, "all") else [name]) if each is not None]
    rows = [(each.name, each.about, each.command) for each in wanted]
    if action == "list":
        out.emit(views.list_samples(rows))
    elif action == "show":
        out.text(wanted[0].text)
    else:
        files = {os.path.join(folder, each.file): each.text for each in wanted}
        there = [file for file in files if os.path.lexists(file)]
        if there:
            raise CommandError(
                f"there is a file {there[0]}, which stays as it is", "gradtool self samples copy NAME DIR"
            )
        make_folder(folder)
        out.emit(views.list_copied(rows, [os.path.normpath(file) for file in files]), also=files)
