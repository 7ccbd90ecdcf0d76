"""Verbs that change values, and compare what comes of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtool.engine.core.rows import RowArray
from gradtool.engine.core.tensor_array import TensorArray

from .. import scope
from ..errors import VerbError
from ..notebook import Notebook
from ..session import Session
from ..show import dims
from . import Reply, always, refuse_words, verb


def _edit(session: Session, name: str, make: Any, text: str) -> Reply:
    """Give a tensor the numbers that *make* gives of the ones it has."""
    number = session.number(name)
    before = session.branch.value(number)
    if not (hasattr(before, "dtype") or isinstance(before, RowArray)):
        raise VerbError(f"{name} holds no numbers.")
    if isinstance(before, TensorArray):
        raise VerbError(f"{name} is an array of tensors.", hint="set a tensor before it is written to the array")
    array = np.asarray(before)
    new = np.asarray(make(array))
    if new.dtype.kind not in "biufcV":  # V: bfloat16
        raise VerbError(f"{name} is {array.dtype.name}, and the new value holds no numbers.")
    if new.dtype.kind == "c" and array.dtype.kind != "c":
        raise VerbError(f"{name} is {array.dtype.name}, and the new value is complex.")
    try:
        new = np.broadcast_to(new, array.shape).astype(array.dtype)
    except ValueError:
        raise VerbError(
            f"{name} has shape {list(array.shape)}, and the new value has shape {list(new.shape)}."
        ) from None
    new.flags.writeable = False
    changed = int((~((new == array) | ((new != new) & (array != array)))).sum())
    session.branch.edit(number, new, text)
    unread = _unread(session, number) if changed else ""
    return Reply(f"edited {changed} element{'s' * (changed != 1)} · {_stale(session)}{unread}")


def _unread(session: Session, number: int) -> str:
    """Return a note that nothing yet to come reads a value, where something that is done has."""
    readers = [e for e in session.timeline.entries if number in e.inputs]
    if not readers or readers[-1].index >= session.cursor:
        return ""
    last = readers[-1].name
    return f"\n  nothing to come reads it: {last} is done · goto {readers[0].name} first, and it is read"


def _stale(session: Session) -> str:
    n = len(session.branch.stale())
    return f"{n} op{'s' * (n != 1)} now stale ~"


@verb(
    "set VAR = EXPR",
    group="edits",
    examples=("set h@GRAD = np.zeros((2, 3))", "set w = 2 * v['w']"),
    then="continue compare undo",
    completes="tensor",
    evaluates=always,
)
def set_(book: Notebook, rest: str) -> Reply:
    """Give a tensor other numbers; what depends on them runs again.

    The expression is Python, and its value is given the tensor's shape and type. Operators that depend on it are stale
    (~) until they run again. Nothing of the model changes: undo takes it back, and fork keeps the run as it was.
    """
    name, equals, expression = rest.partition("=")
    if not equals or not name.strip() or not expression.strip():
        raise VerbError("expected VAR = EXPR.", hint='set x@GRAD = np.zeros(3) · set w = 2 * v["w"]')
    session = book.session
    session.number(name.strip())
    value = scope.evaluate(session, expression, session.current)
    return _edit(session, name.strip(), lambda before: value, f"set {rest}")


@verb("zero VAR", group="edits", examples=("zero h@GRAD",), then="continue compare undo", completes="tensor")
def zero(book: Notebook, rest: str) -> Reply:
    """Make all elements of a tensor zero."""
    return _edit(book.session, _one(rest, "zero VAR"), np.zeros_like, f"zero {rest}")


@verb("clip VAR A B", group="edits", examples=("clip h@GRAD -1 1",), then="continue compare undo", completes="tensor")
def clip(book: Notebook, rest: str) -> Reply:
    """Limit the elements of a tensor to A … B."""
    words = rest.rsplit(None, 2)
    try:
        name, low, high = words[0], float(words[1]), float(words[2])
    except (IndexError, ValueError):
        raise VerbError("expected a tensor and two numbers.", hint="clip x@GRAD -1 1") from None
    if low > high:
        raise VerbError(f"{low:g} is more than {high:g}.")
    return _edit(book.session, name, lambda before: np.clip(before, low, high), f"clip {rest}")


@verb("drop OP", group="edits", examples=("drop relu_grad.0",), then="continue compare undo", completes="op")
def drop(book: Notebook, rest: str) -> Reply:
    """Have an operator that is yet to come give zeros."""
    session = book.session
    entry = session.entry(_one(rest, "drop OP"))
    if entry.index < session.cursor:
        raise VerbError(f"{entry.name} is done already.", hint=f"goto {entry.name} goes back to it")
    session.branch.drop(entry, f"drop {entry.name}")
    return Reply(f"dropped {entry.name} · {_stale(session)}")


@verb("undo", group="edits", examples=("undo",), then="edits")
def undo(book: Notebook, rest: str) -> Reply:
    """Take the last edit of this branch back."""
    refuse_words(rest, "undo")
    edit = book.session.branch.undo()
    if edit is None:
        raise VerbError("there is no edit in this branch.")
    return Reply(f"undone: {edit.text} · {_stale(book.session)}")


@verb("edits", group="edits", examples=("edits",), then="undo compare")
def edits(book: Notebook, rest: str) -> Reply:
    """The edits of this branch."""
    refuse_words(rest, "edits")
    branch = book.session.branch
    if not branch.edits:
        return Reply(f"no edits in {branch.name}")
    total = len(book.session.timeline.entries)
    return Reply(
        "\n".join(f"{i:>3}  from {min(e.at + 1, total)}/{total}  {e.text}" for i, e in enumerate(branch.edits, 1))
    )


@verb("fork [NAME]", group="edits", examples=("fork", "fork guard"), then="set compare switch", completes="branch")
def fork(book: Notebook, rest: str) -> Reply:
    """Branch the run here; what follows happens in the new branch.

    The run as it was is the branch base. compare says what an edit has done to the gradients.
    """
    before = book.session.branch.name
    branch = book.session.fork(rest or None)
    return Reply(f"in {branch.name}, forked from {before} at {branch.cursor + 1}/{len(book.session.timeline.entries)}")


@verb("switch NAME", group="edits", examples=("switch base",), then="branches compare", completes="branch")
def switch(book: Notebook, rest: str) -> Reply:
    """Go on in another branch."""
    book.session.switch(_one(rest, "switch NAME"))
    return Reply(f"in {rest}\n{book.here()}")


@verb("branches", group="edits", examples=("branches",), then="switch compare")
def branches(book: Notebook, rest: str) -> Reply:
    """The branches: where each stands, and its edits."""
    refuse_words(rest, "branches")
    session = book.session
    total = len(session.timeline.entries)
    return Reply(
        "\n".join(
            f"{'▶' if b is session.branch else ' '} {n} · at {min(b.cursor + 1, total)}/{total}"
            f" · {len(b.edits)} edit{'s' * (len(b.edits) != 1)}"
            for n, b in session.branches.items()
        )
    )


@verb("compare A B", group="edits", examples=("compare base guard",), then="branches stats", completes="branch")
def compare(book: Notebook, rest: str) -> Reply:
    """The final gradients of two branches: which differ, and by how much."""
    words = rest.split()
    session = book.session
    if len(words) == 1:
        words.append(session.branch.name)
    if len(words) != 2:
        raise VerbError("expected two branches.", hint=f"compare base {session.branch.name}")
    if not session.timeline.results:
        return Reply("the run is about no gradients")
    for w in words:
        if w not in session.branches:
            raise VerbError(f"there is no branch {w!r}.", hint=f"there is {', '.join(session.branches)}")
    first, second = (session.results(session.branches[w]) for w in words)
    differing = [n for n in first if not _equal(first[n], second[n])]
    same = len(first) - len(differing)
    equal = [_equality_note(same, bool(differing))] if same else []
    if len(differing) > _LISTED:
        differing.sort(key=lambda n: -_change(first[n], second[n]))  # a stable sort: equal ones keep their order
    told = [f"{n} {_change_note(first[n], second[n])}" for n in differing[:_LISTED]]
    if len(told) > _IN_A_LINE:
        more = len(differing) - len(told)
        under = [f"{more} more that differ less", *equal] if more else equal
        head = f"{len(differing)} of {len(first)} gradients differ" + (", the most first" if more else "")
        return Reply("\n".join([head, *(f"  {t}" for t in (*told, *under))]), value=(first, second))
    return Reply("   ".join([*told, *equal]), value=(first, second))


def _equality_note(same: int, others: bool) -> str:
    if others:
        return "others equal"
    return "all gradients equal" if same > 1 else "the gradient is equal"


_IN_A_LINE = 3
"""So many gradients are told in one line."""


_LISTED = 20
"""So many gradients are told; of more, those that differ most."""


def _change(a: Any, b: Any) -> float:
    """Return how far a gradient is from what it was, relative to that; infinity where that is no number."""
    if a is None or b is None:
        return math.inf
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if x.shape != y.shape or not (np.isfinite(x).all() and np.isfinite(y).all() and np.any(x)):
        return math.inf
    return float(np.linalg.norm(x - y) / np.linalg.norm(x))


def _equal(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    x, y = np.asarray(a), np.asarray(b)
    return x.shape == y.shape and np.array_equal(x, y, equal_nan=x.dtype.kind in "fc")


def _change_note(a: Any, b: Any) -> str:
    if a is None or b is None:
        return f"{_norm(a)} → {_norm(b)}"
    change = _change(a, b)
    return f"{_norm(a)} → {_norm(b)}" + (f" (Δ {change:.2g})" if math.isfinite(change) else "")


def _norm(a: Any) -> str:
    if a is None:
        return "None"
    x = np.asarray(a, np.float64)
    if np.isnan(x).any():
        return "NaN"
    return f"{np.sqrt(np.square(x).sum()):.4g}" if x.size else dims(a)


def _one(rest: str, usage: str) -> str:
    if not rest:
        raise VerbError("of what?", hint=usage)
    return rest
