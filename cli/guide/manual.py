"""Manual pages made of the commands themselves: what ``--help`` says, in the macros of ``man``."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from gradtool import __version__

from .. import commands, help_pages
from . import examples

SECTION = 1


def name(command: str) -> str:
    """Return the name of a command's page; of ``""`` that of gradtool itself."""
    return f"gradtool-{commands.file_name(command).replace('_', '-')}" if command else "gradtool"


def page(called: str) -> str:
    """One manual page.

    Args:
        called: the command or a form of one, or ``""`` for gradtool itself.
    """
    from ..main import cli

    command: click.Command = commands.load(called) if called else cli
    listed = help_pages.forms(called) if called else ((each, commands.summary(each)) for each in commands.names())
    typed = "" if called == commands.OF_A_MODEL else called
    context = click.Context(command, info_name=f"gradtool {typed}".strip())
    usage = " ".join(command.collect_usage_pieces(context))
    first, *paragraphs = (command.help or "").strip().split("\n\n")
    lines = [
        f'.TH "{name(called).upper()}" "{SECTION}" "" "gradtool {__version__}" "gradtool"',
        ".SH NAME",
        f"{_escape(name(called))} \\- {_text(first)}",
        ".SH SYNOPSIS",
        f".B {_escape(context.info_name or '')}\n{_escape(usage)}",
    ]
    if paragraphs:
        lines += [".SH DESCRIPTION", *(line for text in paragraphs for line in _paragraph(text))]
    lines += [".SH OPTIONS", *_entries(_options(command, context))]
    entries = [*listed]
    if entries:
        lines += [".SH COMMANDS", *_entries(entries)]
    closing = examples.epilog(called)
    if closing:
        lines += [".SH NOTES", *(line for text in closing.split("\n\n") for line in _paragraph(text))]
    return "\n".join(lines) + "\n"


def _options(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if record is not None:
            yield record


def _entries(entries: Iterator[tuple[str, str]] | list[tuple[str, str]]) -> Iterator[str]:
    for term, text in entries:
        yield f".TP\n.B {_escape(term)}\n{_text(text)}"


def _paragraph(text: str) -> list[str]:
    """A paragraph of a help text: as it stands after ``\\b``, else filled."""
    if "\b" in text:
        return [".PP", ".nf", *map(_escape, text.replace("\b", "").strip("\n").split("\n")), ".fi"]
    return [".PP", _text(text)]


def _text(text: str) -> str:
    return _escape(" ".join(text.split()))


def _escape(line: str) -> str:
    """A line that ``man`` shows as it is: no macro, no escape, hyphens that can be searched."""
    line = line.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", line)
