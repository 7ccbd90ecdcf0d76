"""Walk through the backward pass with its values, forwards and backwards; change them and go on."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from gradtool.engine.core.command_errors import CommandError, Unreadable
from gradtool.engine.script import sessions

from ..computing import computing_options
from ..context import Output, backward_options, loading_options
from ..sizes import byte_size

if TYPE_CHECKING:
    from gradtool.viz.debugger.notebook import Notebook


@click.command("debug")
@click.argument("model", required=False)
@loading_options
@computing_options
@backward_options
@click.option("--feed", metavar="FILE[ROWS]", help="Arrays to feed, by name.")
@click.option("--catch", multiple=True, metavar="KIND", help="Stop at nan, inf, big=1e4, zero or none; repeatable.")
@click.option(
    "--break", "break_", multiple=True, metavar="WHERE", help="Stop before op:T, VAR, line:F:N or layer:L; repeatable."
)
@click.option("--watch", multiple=True, metavar="EXPR", help="Stop where the value of EXPR changes; repeatable.")
@click.option("--step", type=click.IntRange(1), metavar="N", help="Which backward pass of a training file (see above).")
@click.option("--on-error", is_flag=True, help="Post-mortem: begin at the operator that failed.")
@click.option(
    "--history",
    metavar="SIZE",
    callback=byte_size,
    help="Bytes of values to hold, e.g. 512M; others are computed again.",
)
@click.option("-x", "scripts", multiple=True, metavar="FILE", help="Carry out the lines of FILE first; repeatable.")
@click.option(
    "--batch",
    is_flag=True,
    help="No prompt: exit with 1 if a catch fires or an expect fails; with stops and no verbs it goes on by itself.",
)
@click.option("--replay", metavar="FILE.jsonl", help="Go on with a saved session; MODEL is not needed.")
@click.option("--check", is_flag=True, help="With --replay: run its cells again, and exit with 1 if one differs.")
@click.option("--trust", is_flag=True, help="With --replay: evaluate the expressions that stand in the session.")
@click.option(
    "--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Colours (also NO_COLOR)."
)
@click.option("--ascii", "ascii_", is_flag=True, help="ASCII characters only.")
@click.option("-q", "--quiet", is_flag=True, help="No notes on stderr.")
@click.option("-v", "--verbose", count=True, help="More detail.")
def command(**values: Any) -> int:
    """Walk through the backward pass of MODEL with its values, forwards and backwards; change them, and go on.

    \b
    gradtool debug model.py --catch nan
    gradtool debug train.py --step 3
    gradtool debug model.py --on-error
    gradtool debug model.py --batch -x hunt.gdt
    gradtool debug --replay hunt.jsonl --check

    What stands at the prompt is a verb (help lists them) or Python. Without a terminal, verbs are read from stdin. In a
    notebook there is no prompt: every verb is a magic with a g in front, %gstep.

    Of a file that trains, the last backward pass is recorded, or with --step the Nth. With --catch it is the first one
    in which nan, inf, big or zero is found. If the file runs no backward pass, one is run. What is changed in a session
    changes nothing in the model.

    A session that was saved (by the verb save) goes on with --replay, without the model. With --check its cells are run
    again, on what was saved or on MODEL if it is given, and compared.

    A saved session is data: the model that it names is not loaded, and expressions in it (watches, conditions, Python
    and verbs in cells) are not evaluated unless --trust says so, or you do when they are shown on a terminal. What was
    recorded is there all the same; --check goes as far as the first cell that evaluates something, and exits with 2.

    With --on-error the session begins where the file or its backward pass raised, at the operator that failed (marked
    !). The variables of the function that called it are in scope.
    """
    color = {"auto": None, "always": True, "never": False}[values.pop("color")]
    out = Output.of_picture(values)
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
            return replaying.check(saved, None, out) if check else prompt.over(saved.book)
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
    from gradtool.viz.debugger.from_models import opened

    asked = Debug.take(values)
    with opened(Request.take(values, unfinished=False, post_mortem=on_error), asked, out) as book:
        return prompt.over(book) if saved is None else replaying.check(saved, book, out)


class Prompt:
    """How a session is run: scripts first, then the prompt unless it is a batch."""

    def __init__(self, scripts: Sequence[str], batch: bool, color: bool | None, ascii_only: bool) -> None:
        self.scripts = scripts
        self.batch = batch
        self._color = color
        self._ascii = ascii_only
        self._texts: list[str] | None = None

    def read(self) -> None:
        """Read the scripts, before the model is run."""
        self._texts = [_read(file) for file in self.scripts]

    def over(self, book: Notebook) -> int:
        """Run the session; the exit code."""
        from gradtool.viz.debugger import batch, terminal

        if self._texts is None:
            self.read()
        screen = terminal.Screen(sys.stdout, self._color, self._ascii)
        named = list(zip(self.scripts, self._texts or (), strict=True))
        if self.batch and not named:
            named = [("<stdin>", self._typed(book))]
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
            here.debugging(book)
            return batch.CLEAN
        return terminal.interact(book, color=self._color, ascii_only=self._ascii)

    @staticmethod
    def _typed(book: Notebook) -> str:
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
