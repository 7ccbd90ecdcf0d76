"""The ``gradtool`` command.

Commands load when they are called: ``--help`` and ``--version`` import neither NumPy nor the engine nor rich.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import click

from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.script import streams as theirs
from gradtool.engine.script.forced_end import end_soon_after_ctrl_c
from gradtool.engine.script.imports import guard_imports

from . import commands, configuration, former_names, help_pages, streams
from .boundary import overdue, run

SCRIPT = "gradtool.script"
"""Where click's context keeps the words after ``--``."""

WORDS = "gradtool.words"
"""Where click's context keeps all words of the command line."""

RAISED = "gradtool.raised"
"""Where click's context keeps the exit code of an error of the model, after which there was an answer."""

_GUIDE = "explain"
"""The command that runs where nothing is typed."""

_OF_THE_GROUP = ("-h", "--help", "--version")
"""Options that stand without a command."""

_NEW_OBJECTS = 50_000
"""Objects that are made before the collector looks at them; Python's own number is 700."""


class CommandGroup(click.Group):
    """A group whose commands are the files in ``commands/``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return commands.names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in commands.every():
            return None
        command = commands.load(cmd_name)
        if ctx.resilient_parsing:
            from .completion import equip

            return equip(command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if ctx.resilient_parsing:
            return self._resolve_unfinished(ctx, args)
        if args[0] not in (*commands.names(), commands.OF_A_MODEL) and not args[0].startswith("-"):
            raise former_names.unknown_command(args[0])
        args = help_pages.drop_all(args, ctx.meta)
        chosen, rest = commands.choose_form(args[0], args[1:])
        name, command, rest = super().resolve_command(ctx, [chosen, *rest])
        after = ctx.meta.get(SCRIPT, ())
        if after and command is not None and not _names_a_model(command, rest):
            # Nothing before says which file: as everywhere, -- stands before a name that begins with a dash.
            ctx.meta[SCRIPT] = ()
            rest = [*rest, "--", *after]
        if command is not None and not set(help_pages.FLAGS).isdisjoint(rest):
            from .guide import examples

            command.epilog = command.epilog or examples.epilog(chosen)
            rest = [*help_pages.FLAGS[-1:]]  # also where an option would take it as its value: graph --dump --help
        if name is not None and command is not None:
            configuration.set_defaults(ctx, name, command, rest)
        return name, command, rest

    def _resolve_unfinished(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of a line that is not finished: a shell asks what could stand there, and nothing is wrong yet."""
        name, rest = args[0], args[1:]
        with suppress(CommandError):
            name, rest = commands.choose_form(name, rest)
        return super().resolve_command(ctx, [name, *rest])

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The two things that can be typed: a model, or a command and what it is about."""
        formatter.write_usage(ctx.command_path, "MODEL [OPTIONS]")
        formatter.write(f"       {ctx.command_path} COMMAND [OPTIONS] MODEL\n")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands in two groups, and the one that is about gradtool itself."""
        first = [("MODEL", commands.summary(commands.OF_A_MODEL))]
        first += [(name, commands.summary(name)) for name in commands.FIRST]
        others = [name for name in commands.names() if name not in commands.FIRST]
        with formatter.section("Commands"):
            formatter.write_dl(first)
        with formatter.section("More commands"):
            formatter.write_dl([(name, commands.summary(name)) for name in others])

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **more: Any) -> click.Context:
        """As click's, which prints help and versions here; click would end the process its own way.

        Words after ``--`` are not gradtool's, but the arguments of the file that it is asked about.
        """
        if more.get("resilient_parsing"):
            asked = super().make_context(info_name, [*args], *rest, **more)
            asked.meta[WORDS] = tuple(args)
            return asked
        with streams.convert_write_errors():
            _check(args)
            end = args.index("--") if "--" in args else len(args)
            typed = _add_command(args[:end]) if args else [_GUIDE]
            context = super().make_context(info_name, typed, *rest, **more)
            context.meta[SCRIPT] = tuple(args[end + 1 :])
            context.meta[WORDS] = tuple(args)
            return context

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """As click's; a model stands where a command does."""
        from .completion import FileParamType

        return super().shell_complete(ctx, incomplete) or FileParamType().shell_complete(
            ctx, self.params[0], incomplete
        )

    def invoke(self, ctx: click.Context) -> Any:
        """As click's; the exit code says if the model raised, whatever was answered."""
        with streams.convert_write_errors():
            try:
                result = super().invoke(ctx)
            except click.BadParameter as error:
                raise configuration.explain(error) from None
        return ctx.meta.get(RAISED, result)

    def main(self, args: Sequence[str] | None = None, *rest: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """As click's, but errors and exit codes are gradtool's (``boundary.py``)."""
        call: Callable[..., Any] = super().main
        with guard_imports():
            if not standalone_mode:
                return call(args, *rest, standalone_mode=False, **extra)
            arguments = sys.argv[1:] if args is None else list(args)
            sys.exit(run(lambda: call(arguments, *rest, standalone_mode=False, **extra), arguments))


def _add_command(words: list[str]) -> list[str]:
    """*words* of a command line; where they name a model and no command, with the one that says what it can."""
    if not words or words[0] in commands.names() or words[0] in _OF_THE_GROUP:
        return words
    options_first = words[0].startswith("-") and words[0] != "-"
    named = any(word == "-m" or _may_be_a_model(word) for word in (words if options_first else words[:1]))
    if words[0] == commands.OF_A_MODEL and not named:
        raise former_names.unknown_command(words[0])
    return [commands.OF_A_MODEL, *words] if named else words


def _may_be_a_model(word: str) -> bool:
    """Return whether a word reads like a model rather than like a command: a file, a path, a module, a name in a
    notebook.
    """
    from gradtool.engine.script import sessions

    session, where = sessions.current(), word.partition(":")[0]
    if word == "-" or (session is not None and session.has(where)):
        return True
    return not word.startswith("-") and (any(c in word for c in "./:" + os.sep) or os.path.isfile(word))


_MODELS = ("words", "model", "models", "sides")
"""What commands call the argument that names a file to run."""


def _names_a_model(command: click.Command, words: Sequence[str]) -> bool:
    """Return whether *command* runs a file, and *words* say which."""
    if all(option.name != "script" for option in command.params):
        return False
    try:
        values, _, _ = command.make_parser(click.Context(command)).parse_args(list(words))
    except click.UsageError:
        return True  # click says what is wrong with them
    given = next((values[name] for name in _MODELS if name in values), None)
    return isinstance(given, (str, tuple)) and bool(given)


def _check(words: Sequence[str]) -> None:
    """Refuse words that no command line of a system can hold; a notebook's can."""
    for word in words:
        try:
            taken = b"\0" not in os.fsencode(word)
        except UnicodeEncodeError:
            taken = False
        if not taken:
            raise CommandError(f"{word!r} holds a character that no system takes on a command line")


def _version(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    """Print the versions of gradtool and of the packages that it uses."""
    if not value or context.resilient_parsing:
        return
    from .versions import lines

    click.echo("\n".join(lines()))
    context.exit()


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Print the versions of gradtool and of the packages that it uses, and exit.",
)
def cli() -> None:
    """See, explain and debug the backward (gradient) graphs of models written in Paddle's public API or in PyTorch.

    MODEL is a Python file (model.py, model.py:build), a function (pkg.mod:build), a notebook, or - for stdin.
    Put the arguments of a script after --: gradtool why train.py -- --lr 3.

    Start with gradtool train.py: one run, and everything that can be read from it.
    Search for a symptom with gradtool explain gradient is none.
    """


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line with *argv* (the process's own arguments by default) and exit with its code."""
    # What a command loads and builds stays to its end. Looking through it for garbage took a tenth of a short command.
    gc.set_threshold(_NEW_OBJECTS)
    streams.open_closed_streams()
    if argv is None:
        end_soon_after_ctrl_c(overdue)
        theirs.mark_one_command()
    try:
        cli.main(None if argv is None else list(argv), prog_name="gradtool")
    finally:
        if argv is None:
            theirs.leave_to_scripts()
