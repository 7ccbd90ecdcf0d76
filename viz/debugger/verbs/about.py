"""Verbs about the session itself: its cells, what it expects, help."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from .. import scope, verbs
from ..errors import VerbError, unknown
from ..notebook import Notebook
from . import Reply, always, refuse_words, verb


@verb(
    "expect EXPR",
    group="session",
    examples=("expect np.isfinite(v['w@GRAD']).all()",),
    then="expect-error export",
    completes="tensor",
    evaluates=always,
)
def expect(book: Notebook, rest: str) -> Reply:
    """Say whether an expression is true; where it is not, a batch run fails.

    gradtool debug model.py --batch -x FILE ends with exit code 1 then, which makes a test of a file of verbs.
    """
    if not rest:
        raise VerbError("expect what?", hint='expect np.isfinite(v["w@GRAD"]).all() · expect v["loss"] < 3')
    session = book.session
    value = scope.evaluate(session, rest, session.current)
    if bool(np.all(value)):
        return Reply(f"as expected: {rest}", value=True)
    return Reply("\n".join([f"✗ expected {rest}", *_sides(book, rest, value)]), value=False, failed=True)


def _sides(book: Notebook, text: str, value: Any) -> list[str]:
    """The values of what is compared, or of the expression itself."""
    session = book.session
    tree = ast.parse(text.strip(), mode="eval").body
    if not isinstance(tree, ast.Compare):
        return [f"    it is {_brief(value)}"]
    sides = {ast.unparse(side): side for side in (tree.left, *tree.comparators)}
    told = [
        f"    {source} = {_brief(scope.evaluate(session, source, session.current))}"
        for source, side in sides.items()
        if not isinstance(side, ast.Constant)
    ]
    wrong = np.asarray(value)
    if wrong.size > 1:
        told.append(f"    false for {int((~wrong.astype(bool)).sum())} of {wrong.size} elements")
    return told


def _brief(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size != 1:
        return np.array2string(value, threshold=20, edgeitems=3, max_line_width=100).replace("\n", "\n        ")
    return str(value.reshape(-1)[0]) if isinstance(value, np.ndarray) else repr(value)


@verb(
    "expect-error VERB …",
    group="session",
    examples=("expect-error set w = np.zeros(99)",),
    then="expect",
    completes="verb",
    evaluates=always,
)
def expect_error(book: Notebook, rest: str) -> Reply:
    """Say whether a verb or an expression is refused; where it is not, a batch run fails."""
    if not rest:
        raise VerbError("expect an error of what?", hint="expect-error set w = np.zeros(99)")
    try:
        reply = book.run(rest)
    except Exception as error:
        return Reply(f"as expected: {str(error).split(chr(10))[0] or type(error).__name__}", value=True)
    first = reply.text.split("\n")[0]
    return Reply(f"✗ expected an error of {rest}" + (f"\n    it said: {first}" if first else ""), failed=True)


@verb("cells", group="session", examples=("cells",), then="rerun save export")
def cells(book: Notebook, rest: str) -> Reply:
    """The cells so far, with the first line of what came of each."""
    refuse_words(rest, "cells")
    if not book.cells:
        return Reply("no cells yet")
    rows = []
    for cell in book.cells:
        first = cell.source.strip().split("\n")[0]
        text = cell.text.split("\n")[0]
        label = f"[{cell.number}]{' note' if cell.note else ''}"
        rows.append(f"{label} {first}" + (f"   → {text}" if text else ""))
    return Reply("\n".join(rows))


@verb("rerun N …", group="session", examples=("rerun 1", "rerun 1 2"), then="cells", completes="cell")
def rerun(book: Notebook, rest: str) -> Reply:
    """Run cells again, in the order given, where the cursor is now."""
    numbers = rest.replace(",", " ").split()
    if not numbers:
        raise VerbError("rerun which cells?", hint="rerun 3 · rerun 3 4 5")
    reply = Reply("")
    texts = []
    failed = False
    for source, foreign in _sources(book, numbers):
        with book.session.replay_file(foreign):
            reply = book.run(source)
        texts.append(reply.text)
        failed = failed or reply.failed
    return Reply("\n".join(filter(None, texts)), reply.value, reply.html, reply.svg, reply.quit, failed)


def _sources(book: Notebook, numbers: list[str]) -> list[tuple[str, bool]]:
    """Return the lines typed in these cells, and whether they stand in a file; of cells that ran others again, of
    those.
    """
    numbered = {str(c.number): c for c in book.cells if not c.note}
    sources: list[tuple[str, bool]] = []
    todo = numbers[::-1]
    while todo:
        number = todo.pop()
        if number not in numbered:
            there = f"they are numbered from 1 to {len(book.cells)}" if book.cells else "there is none yet"
            raise VerbError(f"there is no cell {number} to run again.", hint=there)
        source = numbered[number].source
        split = verbs.split(source.strip(), book.session.names) if "\n" not in source.strip() else None
        if split is not None and split[0].name == "rerun":
            todo += split[1].replace(",", " ").split()[::-1]
        else:
            sources.append((source, int(number) in book.foreign))
        if len(sources) + len(todo) > _MOST:
            raise VerbError(f"that is more than {_MOST} cells.")
    return sources


_MOST = 1000


@verb("note TEXT", group="session", examples=("note the gradient dies here",), then="cells export")
def note(book: Notebook, rest: str) -> Reply:
    """Write a note down, in Markdown; exports have it between the cells."""
    if not rest:
        raise VerbError("note what?", hint="note the gradient dies here")
    return Reply(rest, note=True)


@verb("help [VERB]", "h", group="session", examples=("help", "help goto"), completes="verb")
def help_(book: Notebook, rest: str) -> Reply:
    """The verbs by what they are for, or the page of one of them."""
    words = rest.split()
    if words:
        match = verbs.find_verb(words[0]) if len(words) == 1 else None
        if match is None:
            raise unknown("verb", rest, verbs.table(), otherwise="help lists them")
        return Reply(_page(match))
    rows: list[str] = []
    groups: dict[str, list[verbs.Verb]] = {}
    for v in verbs.table().values():
        groups.setdefault(v.group, []).append(v)
    for group, members in groups.items():
        rows.append(f"{group}: {verbs.GROUPS[group]}")
        for v in members:
            short = f" ({', '.join(v.aliases)})" if v.aliases else ""
            usage = v.usage + short
            # A usage that is too long for its column has a line of its own.
            rows += [f"  {usage}", f"{'':<{_COLUMN}}{v.help}"] if len(usage) > _COLUMN - 3 else []
            rows += [f"  {usage:<{_COLUMN - 3}} {v.help}"] if len(usage) <= _COLUMN - 3 else []
    return Reply("\n".join([*rows, *_ANYTHING_ELSE]))


_COLUMN = 33
"""Where help says what a verb does."""

_ANYTHING_ELSE = (
    "help VERB has its page, with examples. What begins with no verb is Python, as is what follows a !:",
    '  v["w@GRAD"] is a tensor at the cursor; cur the next operator, with cur.ins and cur.outs (or ins, outs, dout);',
    "  fwd the operator that it differentiates; g the run; Out[3] what cell 3 gave; np is NumPy.",
)


def _page(match: verbs.Verb) -> str:
    """Return how a verb is written, what it does, lines to type, and what to go on with."""
    also = f" (also: {', '.join(match.aliases)})" if match.aliases else ""
    page = [f"  {line}".rstrip() for line in match.page.split("\n")] if match.page else []
    lines = [f"{match.usage}{also}", f"  {match.help}", *page]
    lines += ["examples", *(f"  {example}" for example in match.examples)]
    return "\n".join([*lines, f"next  {' · '.join(match.then)}"] if match.then else lines)


@verb("quit", "q", "exit", group="session", examples=("quit",))
def quit_(book: Notebook, rest: str) -> Reply:
    """Leave the debugger."""
    refuse_words(rest, "quit")
    return Reply("", quit=True)
