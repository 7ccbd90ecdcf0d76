"""The debugger at a prompt: ``In [n]:`` and ``Out[n]:`` below each other, on a terminal or through pipes.

prompt_toolkit is imported when a session begins on a terminal, and not before.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from gradtool.engine.files import user_cache
from gradtool.engine.script import forced_end

from ..text import printable, to_ascii
from . import show
from .cell import Cell
from .completion import complete
from .notebook import Notebook, is_complete
from .verbs import Reply

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

STYLES = {
    "✓": "32",
    "▶": "1;36",
    "·": "2",
    "●": "31",
    "E": "33",
    "~": "33",
    "✗": "1;31",
    "!": "1;31",
    "■": "1",
}
"""How the letters of ``show.STATES`` look on a terminal, as codes of its escape sequences."""

_MARKED = re.compile(rf"^( *)([{re.escape(''.join(show.STATES))}]+)(?=  ?\S)|[✓▶●✗■]", re.MULTILINE)
"""Letters at the beginning of a line; elsewhere only signs that are no letters of words."""


class Screen:
    """Output of a session.

    Args:
        stream: standard output, unless told otherwise.
        color: whether in colours; by default on a terminal that has them, unless ``NO_COLOR`` is set.
        ascii_only: whether in ASCII; always where the stream takes nothing else.
    """

    def __init__(self, stream: TextIO, color: bool | None = None, ascii_only: bool = False) -> None:
        self.stream = stream
        self.color = _has_colors(stream) if color is None else color
        encoding = (stream.encoding or "utf-8").lower().replace("-", "")
        self.ascii_only = ascii_only or not encoding.startswith("utf")

    def text(self, text: str) -> str:
        """*text* as it is printed: control characters visible, state letters in colours."""
        text = "\n".join(map(printable, text.split("\n")))
        if self.color:
            text = _MARKED.sub(_paint, text)
        text = to_ascii(text) if self.ascii_only else text
        return text.encode("utf-8", "backslashreplace").decode("utf-8")

    def label(self, text: str, style: str) -> str:
        return f"\033[{style}m{text}\033[0m" if self.color else text

    def say(self, text: str) -> None:
        """Print lines."""
        self.stream.write(text + "\n")
        self.stream.flush()

    def answer(self, cell: Cell, reply: Reply) -> None:
        """Print what came of a cell; what went wrong has no number."""
        if not cell.text or cell.note:
            return
        text = self.text(cell.text)
        if reply.error is None:
            text = self.label(f"Out[{cell.number}]:", "31") + show.gap(cell.text) + text
        self.say(text)


def _paint(match: re.Match[str]) -> str:
    blanks, letters = (match[1], match[2]) if match[2] else ("", match[0])
    return blanks + "".join(f"\033[{STYLES[c]}m{c}\033[0m" for c in letters)


def _has_colors(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")


def interact(
    book: Notebook,
    *,
    stdin: TextIO | None = None,
    stdout: TextIO | None = None,
    color: bool | None = None,
    ascii_only: bool = False,
    history: Path | None = None,
    greeting: str | None = None,
) -> int:
    """Run a session until ``quit``, Ctrl-D or the end of the input.

    On a terminal with editing, history and completion; Ctrl-C gives up a line, or interrupts what runs. Otherwise cells
    are read from *stdin* and printed as they would look at the prompt.

    Args:
        history: the file of what was typed in earlier sessions; by default in the user's state directory.
        greeting: what is printed first; by default what the notebook opens with.

    Returns:
        The exit code, 0: that something was found is no failure of a session.
    """
    stream, screen = stdin or sys.stdin, Screen(stdout or sys.stdout, color, ascii_only)
    first = (book.opening or book.here()) if greeting is None else greeting
    if first:
        screen.say(screen.text(first))
    if stream.isatty() and screen.stream.isatty():
        with forced_end.not_ended():  # Ctrl-C gives up a line, and the session goes on
            _read_prompt(book, screen, history)
    else:
        _read_pipe(book, stream, screen)
    return 0


def _read_pipe(book: Notebook, stream: TextIO, screen: Screen) -> None:
    pending = ""
    while not book.finished:
        line = stream.readline()
        pending += line
        if not pending.strip():
            pending = ""
            if not line:
                return
            continue
        source = pending.rstrip("\n") + ("\n" if "\n" in pending.rstrip("\n") and not line.strip() else "")
        if line and not is_complete(source):
            continue
        pending = ""
        number = book.number
        shown = source.rstrip("\n").replace("\n", "\n   ...: ")
        cell, reply = book.execute(source)
        screen.say(screen.label(f"In [{number}]: ", "32") + screen.text(shown))
        screen.answer(cell, reply)


def _read_prompt(book: Notebook, screen: Screen, history: Path | None) -> None:
    session = _prompt(book, screen, history)
    while not book.finished:
        try:
            source = session.prompt(_label(book, screen), in_thread=_has_event_loop())
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if source.strip():
            screen.answer(*book.execute(source))


def _has_event_loop() -> bool:
    """Return whether this thread runs an event loop already, as in a notebook: the prompt then needs a thread of its
    own.
    """
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _label(book: Notebook, screen: Screen) -> Any:
    from prompt_toolkit.formatted_text import ANSI

    return ANSI(screen.label(f"In [{book.number}]: ", "32"))


def _prompt(book: Notebook, screen: Screen, history: Path | None) -> PromptSession[str]:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import Completer, Completion
    from prompt_toolkit.document import Document
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.output import ColorDepth
    from prompt_toolkit.shortcuts import CompleteStyle

    class LineCompleter(Completer):
        def get_completions(self, document: Document, complete_event: Any) -> Any:
            line = document.text_before_cursor
            start, offers = complete(book, line)
            for text in offers[:_OFFERED]:
                yield Completion(text, start - len(line), display=printable(text))

    keys = KeyBindings()

    @keys.add("enter")
    def _(event: Any) -> None:
        buffer = event.current_buffer
        lines = buffer.text.split("\n")
        blank = len(lines) > 1 and not lines[-1].strip()
        if is_complete("\n".join(lines[:-1]) + "\n" if blank else buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n" + _indent(buffer.document.current_line_before_cursor))

    @keys.add("escape", "enter")
    def _(event: Any) -> None:
        event.current_buffer.insert_text("\n")

    return PromptSession(
        multiline=True,
        key_bindings=keys,
        completer=LineCompleter(),
        complete_while_typing=False,
        complete_style=CompleteStyle.READLINE_LIKE,
        history=_history(history),
        prompt_continuation=lambda width, number, wrapped: "   ...: ".rjust(width),
        color_depth=None if screen.color else ColorDepth.DEPTH_1_BIT,
        enable_open_in_editor=True,
    )


_OFFERED = 500
"""More candidates than that are no help."""


def _indent(line: str) -> str:
    """The blanks that the line after *line* begins with."""
    blanks = line[: len(line) - len(line.lstrip())]
    return blanks + ("    " if line.rstrip().endswith(":") else "")


def _history(path: Path | None) -> Any:
    """Return the lines typed in this session and in earlier ones; only in this one where no file can be had."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    try:
        where = path if path is not None else history_file()
        where.parent.mkdir(parents=True, exist_ok=True)
        with where.open("ab"):
            pass
    except (OSError, RuntimeError):  # no such place, or no home
        return InMemoryHistory()
    return FileHistory(str(where))


def history_file() -> Path:
    """Return the file that keeps typed lines: ``debugger_history`` in the user's state directory."""
    base = user_cache.home("XDG_STATE_HOME", ".local/state")
    if base is None:
        raise RuntimeError("no absolute path of a home is known")
    return base / "gradtool" / "debugger_history"
