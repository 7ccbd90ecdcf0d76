"""Step through the backward pass with its values, forwards and backwards."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from gradtool.engine.core.command_errors import CommandError, Unreadable
from gradtool.engine.script import sessions

from ..computing import add_backend_options
from ..context import Output, add_model_options, ascii_option, backward_options, color_option, feed_option, note_options
from ..help_pages import Command
from ..rare import RareOption
from ..sizes import byte_size

if TYPE_CHECKING:
    from gradtool.viz.debugger.notebook import Notebook


@click.command("debug", cls=Command)
@click.argument("model", required=False)
@add_model_options
@add_backend_options
@backward_options
@feed_option
@click.option("--catch", multiple=True, metavar="KIND", help="Stop at nan, inf, big=1e4, zero or none; repeatable.")
@click.option(
    "--break", "break_", multiple=True, metavar="WHERE", help="Stop before op:T, VAR, line:F:N or layer:L; repeatable."
)
@click.option("--watch", multiple=True, metavar="EXPR", help="Stop where the value of EXPR changes; repeatable.")
@click.option("--step", type=click.IntRange(1), metavar="N", help="Record the Nth backward pass.")
@click.option("--on-error", is_flag=True, help="Begin at the operator that failed.")
@click.option(
    "--history",
    cls=RareOption,
    metavar="SIZE",
    callback=byte_size,
    help="Hold so many bytes of values, such as 512M, and compute others again.",
)
@click.option("-x", "scripts", multiple=True, metavar="FILE", help="Run the lines of FILE first; repeatable.")
@click.option(
    "--batch",
    is_flag=True,
    help="Run without a prompt, and exit with 1 if a catch fires or an expect fails.",
)
@click.option("--replay", metavar="FILE.jsonl", help="Continue a saved session; MODEL is not needed.")
@click.option("--check", is_flag=True, help="Run the cells of --replay again, and exit with 1 if one differs.")
@click.option("--trust", is_flag=True, help="Evaluate the expressions in the session of --replay.")
@color_option
@ascii_option
@note_options
def command(**values: Any) -> int:
    """Step through the backward pass of MODEL, forwards and backwards. Look at values, change them, and continue.

    \b
    gradtool debug model.py --catch nan
    gradtool debug train.py --step 3
    gradtool debug model.py --on-error
    gradtool debug model.py --batch -x hunt.gdt
    gradtool debug --replay hunt.jsonl --check

    Type a verb (help lists them) or Python at the prompt. Without a terminal, verbs are read from stdin. In a notebook
    every verb is a magic with a g in front: %gstep.

    If the file trains, the last backward pass is recorded, or the Nth with --step. With --catch it is the first one in
    which nan, inf, big or zero is found. If the file runs no backward pass, one is run. Changes in a session change
    nothing in the model.

    --replay continues a session that the verb save has saved, without the model. With --check its cells run again, on
    what was saved or on MODEL, and are compared.

    A saved session is data: the model that it names is not loaded. Expressions in it (watches, conditions, Python and
    verbs in cells) are evaluated only with --trust, or if you agree when a terminal shows them. --check stops at the
    first cell that evaluates something, and exits with 2.

    With --batch, stops and no verbs, the session continues by itself. With --on-error it begins at the operator that
    failed (marked !), with the variables of the function that called it.
    """
    color = {"auto": None, "always": True, "never": False}[values.pop("color")]
    out = Output.picture_output(values)
    prompt = Prompt(values.pop("scripts"), values.pop("batch"), color, out.ascii)
    replay, check, on_error = values.pop("replay"), values.pop("check"), values.pop("on_error")
    trust = values.pop("trust")
    if on_error and values["step"] is not None:
        raise CommandError("--on-error and --step exclude each other: the pass that failed is recorded")
    if values["step"] is not None and values["backward"] is not None:
        raise CommandError("--step and --backward exclude each other: both say which backward pass is recorded")
    if check and replay is None:
        raise CommandError("--check compares with a saved session", "--replay FILE.jsonl --check")
    if trust and replay is None:
        raise CommandError("--trust is about a saved session", "--replay FILE.jsonl --trust")
    if prompt.batch and not prompt.scripts and sessions.current() is not None:
        raise CommandError("a notebook has no standard input", "--batch -x FILE reads the verbs from a file")
    saved = None
    if replay is not None:
        from .. import replaying

        ask = not prompt.batch and sessions.current() is None and sys.stdin.isatty() and sys.stderr.isatty()
        saved = replaying.read(replay, out, trust, check, ask)
        if values["model"] is None:
            return replaying.check(saved, None, out) if check else prompt.run_session(saved.book)
        if not check:
            raise CommandError("a saved session needs no model to go on", "--check compares it with the model")
    if values["model"] is None:
        raise CommandError("which model? Expected MODEL, or --replay FILE.jsonl", "gradtool debug model.py")
    reads = sessions.current() is None  # a notebook says itself that it has no standard input
    if reads and values["model"].partition(":")[0] == "-" and not ((prompt.batch and prompt.scripts) or check):
        raise CommandError("the verbs are read from stdin, so the model cannot be", "with --batch -x FILE it can")
    prompt.read()
    from gradtool.engine.request.options import Debug
    from gradtool.engine.request.request import Request
    from gradtool.viz.debugger.from_models import open_notebook

    asked = Debug.take(values)
    with open_notebook(Request.take(values, unfinished=False, post_mortem=on_error), asked, out) as book:
        return prompt.run_session(book) if saved is None else replaying.check(saved, book, out)


class Prompt:
    """Settings of a session: scripts first, then the prompt unless it is a batch."""

    def __init__(self, scripts: Sequence[str], batch: bool, color: bool | None, ascii_only: bool) -> None:
        self.scripts = scripts
        self.batch = batch
        self._color = color
        self._ascii = ascii_only
        self._texts: list[str] | None = None

    def read(self) -> None:
        """Read the scripts, before the model is run."""
        self._texts = [_read(file) for file in self.scripts]

    def run_session(self, book: Notebook) -> int:
        """Run the session; the exit code."""
        from gradtool.viz.debugger import batch, terminal

        if self._texts is None:
            self.read()
        screen = terminal.Screen(sys.stdout, self._color, self._ascii)
        named = list(zip(self.scripts, self._texts or (), strict=True))
        if self.batch and not named:
            named = [("<stdin>", self._read_verbs(book))]
        code = batch.CLEAN
        if self.batch and (book.caught or not any(text.strip() for _, text in named)):
            screen.say(screen.text(book.opening or book.here()))
            code = batch.FAILED if book.caught else code
        for file, text in named:
            try:
                code = max(code, batch.run(book, text, file, lambda said: screen.say(screen.text(said))))
            except batch.ScriptError as error:
                raise CommandError(error.message) from None
            if book.finished:
                break
        if self.batch or book.finished:
            return code if self.batch or code == batch.INTERRUPTED else batch.CLEAN
        here = sessions.current()
        if here is not None:
            here.start_debugging(book)
            return batch.CLEAN
        return terminal.interact(book, color=self._color, ascii_only=self._ascii)

    @staticmethod
    def _read_verbs(book: Notebook) -> str:
        """The verbs on standard input; where there are none and something is to be caught, what goes on to it."""
        text = "" if sys.stdin.isatty() else sys.stdin.read()
        return "continue\n" if book.session.stops and not text.strip() else text


def _read(file: str) -> str:
    from pathlib import Path

    try:
        return Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise Unreadable(f"cannot read {file}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise Unreadable(f"{file} is no text in UTF-8") from None
