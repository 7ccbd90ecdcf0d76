"""Completions for the cursor in a line: verbs, operators, tensors, lines, branches, stops, names of Python."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from gradtool.engine.core import source

from . import scope, verbs
from .notebook import Notebook
from .stops import CATCHES

_QUOTED = re.compile(r"""\[\s*(?P<quote>["'])(?P<begun>[^"']*)$""")
_DOTTED = re.compile(r"(?P<owner>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[-?\d+\])*)\.(?P<begun>\w*)$")
_WORD = re.compile(r"[A-Za-z_]\w*$")
_TERM = re.compile(r"[^\s,]*$")


def complete(book: Notebook, line: str) -> tuple[int, list[str]]:
    """Return the completions of the end of *line*.

    Returns:
        Where in the line the part to be replaced begins, and what may stand there, in order.
    """
    if "\n" not in line:
        word = line.lstrip()
        if " " not in word and not any(c in word for c in "([.!="):
            return _matches(line, len(line) - len(word), [*_verb_names(), *_python_names(book)])
        command = verbs.split(line, book.session.names)
        rest = line.lstrip().partition(" ")[2]
        if command is not None and " " in line.lstrip():
            if "=" in rest and command[0].name == "set":
                return _python(book, line)
            if command[0].completes in OFFERS and not _is_python(rest):
                start = len(line) - len(_TERM.findall(line)[0])
                offered = _matches(line, start, OFFERS[command[0].completes](book))
                if offered[1] or command[0].completes not in ("tensor", "verb"):
                    return offered
    return _python(book, line)


def _is_python(rest: str) -> bool:
    """Return whether the end of what stands after a verb is an expression."""
    return " if " in rest or _QUOTED.search(rest) is not None or "(" in rest


def _matches(line: str, start: int, names: Iterable[str]) -> tuple[int, list[str]]:
    begun = line[start:]
    return start, [k for k in dict.fromkeys(names) if k.startswith(begun)]


def _python(book: Notebook, line: str) -> tuple[int, list[str]]:
    quoted = _QUOTED.search(line)
    if quoted is not None:
        names = book.session.timeline.names
        slots = _slots(book) if re.search(r"(ins|outs)\s*$", line[: quoted.start()]) else names
        return _matches(line, quoted.start("begun"), slots)
    dotted = _DOTTED.search(line)
    if dotted is not None:
        return _matches(line, dotted.start("begun"), _attributes(book, dotted["owner"], dotted["begun"]))
    word = _WORD.search(line)
    return _matches(line, word.start(), _python_names(book)) if word is not None else (len(line), [])


def _slots(book: Notebook) -> list[str]:
    entry = book.session.current
    return [s for s, _ in [*entry.reads, *entry.outs]] if entry is not None else []


def _attributes(book: Notebook, owner: str, begun: str) -> list[str]:
    """The attributes of what dotted names stand for; nothing is called but properties of gradtool's own objects."""
    session = book.session
    first, *others = re.findall(r"\w+|\[-?\d+\]", owner)
    namespace = scope.ExpressionNames(
        {**vars(builtins), **session.names, "In": book.inputs, "Out": book.outputs},
        scope.names_at(session, session.current),
    )
    try:
        value: Any = namespace[first]
        for other in others:
            value = value[int(other[1:-1])] if other.startswith("[") else getattr(value, other)
        names = dir(value)
    except Exception:  # what cannot be looked at has no attributes to offer
        return []
    return [name for name in names if begun.startswith("_") or not name.startswith("_")]


def _verb_names() -> list[str]:
    return list(verbs.table())


def _python_names(book: Notebook) -> list[str]:
    session = book.session
    names = scope.names_at(session, session.current)
    own = [n for n in session.names if not n.startswith("__")]
    return [*own, *names, "In", "Out", *(n for n in dir(builtins) if not n.startswith("_")), *keyword.kwlist]


def _operators(book: Notebook) -> list[str]:
    entries = book.session.timeline.entries
    return [*(e.name for e in entries), *dict.fromkeys(e.type for e in entries), *_lines(book)]


def _lines(book: Notebook) -> list[str]:
    return list(dict.fromkeys(source.short(e.loc) for e in book.session.timeline.entries if e.loc))


def _places(book: Notebook) -> list[str]:
    entries = book.session.timeline.entries
    types = dict.fromkeys(e.type for e in entries)
    layers = dict.fromkeys(e.layer for e in entries if e.layer)
    return [
        *(f"op:{t}" for t in [*types, *(e.name for e in entries)]),
        *(f"line:{where}" for where in _lines(book)),
        *(f"layer:{layer}" for layer in layers),
        *_tensors(book),
    ]


def _tensors(book: Notebook) -> list[str]:
    return [n for n in book.session.timeline.names if n]


def _stops(book: Notebook) -> list[str]:
    return [str(s.number) for s in book.session.stops]


def _cells(book: Notebook) -> list[str]:
    return [str(c.number) for c in book.cells]


OFFERS: dict[str, Callable[[Notebook], Sequence[str]]] = {
    "op": _operators,
    "place": _places,
    "tensor": _tensors,
    "stop": _stops,
    "branch": lambda book: list(book.session.branches),
    "catch": lambda book: [f"{c}=" if c == "big" else c for c in CATCHES],
    "verb": lambda book: _verb_names(),
    "format": lambda book: ["html", "ipynb", "md", "script"],
    "cell": _cells,
}
