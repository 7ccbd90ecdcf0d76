"""Callback of ``gradtool self samples``."""

from __future__ import annotations

import os
from typing import Any

from gradtool.engine.core.command_errors import CommandError, unknown
from gradtool.viz.views import samples as views

from ..context import Output
from ..files import make_folder
from ..guide import samples


def run(values: dict[str, Any]) -> None:
    """Run the command."""
    action = values.pop("action")
    name = values.pop("name")
    folder = values.pop("folder")
    out = Output.take(values)
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
