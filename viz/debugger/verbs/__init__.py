"""The verbs of the debugger: one table, filled by every file of this folder when a session first asks for it.

A verb takes the session and the rest of the line, and returns a :class:`Reply`. What it refuses it raises as a
:class:`~gradtool.viz.debugger.errors.VerbError`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Container
from functools import cache
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, Final

from gradtool.engine.core.records import dataclass

from ..errors import VerbError

if TYPE_CHECKING:
    from ..notebook import Notebook


@dataclass
class Reply:
    """Answer of a verb.

    Attributes:
        text: for people; the first thing that every display shows.
        value: what ``Out[n]`` is; the text if it is None.
        html, svg: richer forms for notebooks and exports.
        quit: whether the session is over.
        failed: whether it is a finding that a batch run must not pass over (a catch that fired, an ``expect`` that
            does not hold).
        error: what went wrong, if the verb was not carried out.
        note: whether the text is the user's own, in Markdown.
    """

    text: str
    value: Any = None
    html: str | None = None
    svg: str | None = None
    quit: bool = False
    failed: bool = False
    error: BaseException | None = None
    note: bool = False


Act = Callable[["Notebook", str], Reply]


@dataclass(frozen=True)
class Verb:
    """One verb.

    Attributes:
        usage: how it is written: ``step [n]``.
        help: what it does, in a line.
        page: what is to be said beyond that; empty where the line says it.
        examples: lines that can be typed as they stand; a test runs each of them.
        then: verbs that people go on with.
        aliases: shorter names.
        group: what help lists it under, one of :data:`GROUPS`.
        completes: what completion offers after it, a name of ``completion.OFFERS``, or nothing.
        writes: whether it writes files with these words after it, which replaying a session must not do.
        evaluates: whether it evaluates an expression among these words.
    """

    name: str
    usage: str
    help: str
    page: str
    act: Act
    aliases: tuple[str, ...]
    group: str
    examples: tuple[str, ...]
    then: tuple[str, ...]
    completes: str = ""
    writes: Callable[[str], bool] = lambda rest: False
    evaluates: Callable[[str], bool] = lambda rest: False


def always(rest: str) -> bool:
    """Of a verb that writes files, or evaluates expressions, whatever stands after it."""
    return True


def conditional(rest: str) -> bool:
    """Of a verb that evaluates the expression after ``if``, if there is one."""
    return " if " in rest


GROUPS: Final = {
    "moving": "go through the run",
    "looking": "see where you are",
    "values": "look at tensors",
    "stops": "stop where something happens",
    "edits": "change values and go on",
    "model": "ask why",
    "session": "cells, files, help",
}
"""What help lists verbs under, in this order, each with its purpose."""

_verbs: dict[str, Verb] = {}


def verb(
    usage: str,
    *aliases: str,
    group: str,
    examples: tuple[str, ...],
    then: str = "",
    completes: str = "",
    writes: Callable[[str], bool] = lambda rest: False,
    evaluates: Callable[[str], bool] = lambda rest: False,
) -> Callable[[Act], Act]:
    """Add a function to the table; its docstring's first line is the help, and all of it the page of ``help VERB``."""

    def add(act: Act) -> Act:
        name = usage.split()[0]
        text, _, page = cleandoc(act.__doc__ or "").partition("\n")
        more = tuple(then.split())
        _verbs[name] = Verb(
            name, usage, text, page.strip(), act, aliases, group, examples, more, completes, writes, evaluates
        )
        return act

    return add


@cache
def table() -> dict[str, Verb]:
    """All verbs by name, in the order of the help: by group, then by file, then as they stand there."""
    for file in sorted(module.name for module in pkgutil.iter_modules(__path__)):
        importlib.import_module(f".{file}", __name__)
    order = list(GROUPS)
    return {v.name: v for v in sorted(_verbs.values(), key=lambda v: order.index(v.group))}


def find_verb(word: str) -> Verb | None:
    """The verb of that name or alias."""
    verbs = table()
    return verbs.get(word) or next((v for v in verbs.values() if word in v.aliases), None)


def split(line: str, own: Container[str] = ()) -> tuple[Verb, str] | None:
    """The verb that a line begins with, and the rest; None if the line is Python.

    A word that is a verb is Python where it is assigned to, called, or has an attribute or an index taken: ``n = 3``,
    ``list(x)``, ``p.shape``; and where it is one of the user's *own* names and the line is Python as it stands. A ``!``
    at the beginning says that Python is meant.
    """
    stripped = line.strip()
    word = stripped.split(None, 1)[0] if stripped else ""
    match = find_verb(word)
    if match is None:
        return None
    rest = stripped[len(word) :].strip()
    if rest.startswith("=") and not rest.startswith("=="):
        return None
    if word in own and _is_python(stripped):
        return None
    return match, rest


def _is_python(text: str) -> bool:
    try:
        compile(text, "<debugger>", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def count(rest: str, usage: str) -> int:
    """A number of times, 1 where nothing is said."""
    if not rest:
        return 1
    if not rest.isdigit() or int(rest) < 1:
        raise VerbError(f"expected a number, but got {rest!r}.", hint=usage)
    return int(rest)


def refuse_words(rest: str, usage: str) -> None:
    """Refuse words after a verb that takes none."""
    if rest:
        raise VerbError(f"it takes no arguments, but got {rest!r}.", hint=usage)
