"""Print the manual page of a command, or write all pages to a folder."""

from __future__ import annotations

import os
from typing import Any

import click

from gradtool.engine.core.command_errors import unknown

from ..context import Output, output_options
from ..files import make_folder, write_all
from ..help_pages import Command
from . import every


@click.command("self man", cls=Command)
@click.argument("name", required=False, metavar="[COMMAND]")
@output_options
def command(name: str | None, **values: Any) -> None:
    """Print the manual page of COMMAND, or of gradtool; -o DIR writes all pages to DIR.

    \b
    gradtool self man why | man -l -
    gradtool self man stats-memory | man -l -
    gradtool self man -o ~/.local/share/man/man1
    """
    out = Output.take(values)
    from ..guide import manual

    called = {manual.name(each).partition("-")[2]: each for each in every()}
    if name is not None and name not in called:
        raise unknown("command", name, called)
    if out.file in (None, "-") or name is not None:
        out.text(manual.page(called[name] if name else ""))
        return
    folder = out.file or "."
    make_folder(folder)
    pages = {manual.name(each): manual.page(each) for each in ["", *every()]}
    write_all({os.path.join(folder, f"{each}.{manual.SECTION}"): text for each, text in pages.items()})
    out.note(f"wrote {len(pages)} pages to {folder}")
