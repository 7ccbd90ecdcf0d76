"""Help of a command: a first page with the options that people need first, and a whole one.

``gradtool why --help`` is the first page, ``gradtool why --help all`` the whole one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from . import commands
from .rare_options import RareOption

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

WHOLE = "gradtool.help"
"""Where click's context keeps that the whole page is wanted."""

ALL = "all"
"""The word behind ``--help`` that asks for the whole page."""

FLAGS = ("-h", "--help")


class CommandContext(click.Context):
    """A context that calls the command of a model alone as it is typed."""

    @property
    def command_path(self) -> str:
        """Words to type to get here."""
        path = super().command_path
        head, _, last = path.rpartition(" ")
        return f"{head} MODEL" if last == commands.OF_A_MODEL else path


class Command(click.Command):
    """A command of ``gradtool``, or a form of one."""

    context_class = CommandContext

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """As click's; of the command of a model alone without its name, which nobody types."""
        path = ctx.command_path
        shown = path.removesuffix(" MODEL") if self.name == commands.OF_A_MODEL else path
        formatter.write_usage(shown, " ".join(self.collect_usage_pieces(ctx)))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options of the page, and the forms of the command."""
        whole = bool(ctx.meta.get(WHOLE))
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        rows = [option.get_help_record(ctx) for option in options if whole or not isinstance(option, RareOption)]
        with formatter.section("Options"):
            formatter.write_dl([row for row in rows if row is not None])
        entries = list(forms(self.name or ""))
        if entries:
            with formatter.section("Commands" if self.name == commands.HOUSE else "Forms, each with its own --help"):
                formatter.write_dl(entries)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[Any]]:
        """As click's, and the forms of the command."""
        from click.shell_completion import CompletionItem

        items = super().shell_complete(ctx, incomplete)
        there = {item.value for item in items}
        return items + [
            CompletionItem(form, help=does)
            for form, does in forms(self.name or "")
            if form.startswith(incomplete) and (incomplete or form[0] != "-") and form not in there
        ]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """As click's; the first page ends with how to see the whole one."""
        super().format_epilog(ctx, formatter)
        if not ctx.meta.get(WHOLE) and any(isinstance(param, RareOption) for param in self.params):
            formatter.write_paragraph()
            formatter.write_text(f"All options, also those that every command has: {ctx.command_path} --help {ALL}")


def forms(name: str) -> Iterator[tuple[str, str]]:
    """The forms of a command as they are typed, and what each does."""
    for form in commands.forms(name):
        yield form.partition(" ")[2], commands.summary(form)


def drop_all(words: list[str], meta: dict[str, Any]) -> list[str]:
    """Return *words* without ``all`` behind ``--help``; *meta* then says that the whole page is wanted."""
    for number, word in enumerate(words[:-1]):
        if word in FLAGS and words[number + 1] == ALL:
            meta[WHOLE] = True
            return [*words[: number + 1], *words[number + 2 :]]
    return words
