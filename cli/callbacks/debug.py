"""Callback of ``gradtool debug``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from gradtool.engine.core.command_errors import CommandError, Unreadable
from gradtool.engine.request.options import Debug
from gradtool.engine.request.request import Request
from gradtool.engine.script import sessions
from gradtool.viz.debugger import batch, terminal
from gradtool.viz.debugger.from_models import open_notebook
from gradtool.viz.debugger.notebook import Notebook

from .. import session_replay
from ..context import Output


def run(values: dict[str, Any]) -> int:
    """Run the command; return its exit code."""
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
        ask = not prompt.batch and sessions.current() is None and sys.stdin.isatty() and sys.stderr.isatty()
        saved = session_replay.read(replay, out, trust, check, ask)
        if values["model"] is None:
            return session_replay.check(saved, None, out) if check else prompt.run_session(saved.book)
        if not check:
            raise CommandError("a saved session needs no model to go on", "--check compares it with the model")
    if values["model"] is None:
        raise CommandError("which model? Expected MODEL, or --replay FILE.jsonl", "gradtool debug model.py")
    reads = sessions.current() is None  # a notebook says itself that it has no standard input
    if reads and values["model"].partition(":")[0] == "-" and not ((prompt.batch and prompt.scripts) or check):
        raise CommandError("the verbs are read from stdin, so the model cannot be", "with --batch -x FILE it can")
    prompt.read()
    asked = Debug.take(values)
    with open_notebook(Request.take(values, unfinished=False, post_mortem=on_error), asked, out) as book:
        return prompt.run_session(book) if saved is None else session_replay.check(saved, book, out)


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
