"""Names of the magics.

One rule: the magic of a command has the command's name, and that of a verb of the debugger, or of a short form of one,
a ``g`` in front. So have commands whose name is a magic of IPython's own, in any version: ``%debug`` is IPython's,
``%gdebug`` ours. ``gradtool MODEL`` is ``%gradtool MODEL``. A verb's name that is a magic already keeps its meaning;
``%g`` takes any verb.
"""

from __future__ import annotations

import re
import shlex

from ..commands import names as command_names

CELL = "gradtool"
"""``%%gradtool``, and ``%gradtool`` for a whole command line."""

WATCH = "watching"
"""Called as ``gradtool.watching`` is; ``%gwatch`` is a verb's."""

SESSION = "g"
"""``%g``, and ``%%g`` for several lines: a cell of the debugger, as it is typed at its prompt."""

OF_IPYTHON = frozenset({"debug"})
"""Names of commands, there or to come, that IPython has taken in some version."""


def magic_of(command: str) -> str | None:
    """The name of a command's magic; None if there is no such command."""
    if command not in command_names():
        return None
    return f"g{command}" if command in OF_IPYTHON else command


def as_magic(command: str) -> str:
    """``gradtool why b model`` as ``%why b model``; another line as it is."""
    words = shlex.split(command) if command.startswith("gradtool ") else []
    magic = magic_of(words[1]) if len(words) > 1 else None
    return command if magic is None else " ".join([f"%{magic}", *map(_quote, words[2:])])


def _quote(word: str) -> str:
    """*word* as a magic reads it back: no shell looks at its brackets."""
    return word if re.fullmatch(r"""[^\s'"\\]+""", word) else shlex.quote(word)
