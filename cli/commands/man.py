"""Show the manual page of a command, or write all of them into a folder."""

from __future__ import annotations

import os
from typing import Any

import click

from ..context import Output, output_options


@click.command("man")
@click.argument("name", required=False, metavar="[COMMAND]")
@output_options
def command(name: str | None, **values: Any) -> None:
    """Print the manual page of COMMAND, without COMMAND that of gradtool; -o DIR writes all pages into DIR.

    \b
    gradtool man -o ~/.local/share/man/man1
    gradtool man why | man -l -
    """
    out = Output.take(values)
    from gradtool.engine.core.command_errors import unknown

    from ..files import make_folder, write_all
    from ..guide import manual
    from ..main import cli
    from . import loaded, names, summary

    if name is not None and name not in names():
        raise unknown("command", name, names())
    listed = [(each, summary(each)) for each in names()]
    if out.file in (None, "-") or name is not None:
        out.text(manual.page(cli if name is None else loaded(name), name or "", [] if name else listed))
        return
    folder = out.file or "."
    make_folder(folder)
    pages = {"": manual.page(cli, "", listed)} | {each: manual.page(loaded(each), each, []) for each in names()}
    write_all({os.path.join(folder, f"{manual.name(each)}.{manual.SECTION}"): text for each, text in pages.items()})
    out.note(f"wrote {len(pages)} pages to {folder}")
