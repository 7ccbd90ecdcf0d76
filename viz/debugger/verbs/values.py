"""Verbs that show tensors."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from gradtool.engine.answers import magnitudes
from gradtool.engine.answers.numbers import OK, Numbers
from gradtool.engine.core import source
from gradtool.engine.core.rows import RowArray
from gradtool.engine.runs.timeline import NOBODY

from ...bars import bar, log_bar
from ...text import cells
from .. import scope, show
from ..errors import VerbError, unknown
from ..notebook import Notebook
from ..session import Session
from . import Reply, verb

_NAME = re.compile(r"[\w.@/:-]+")


def _is_expression(rest: str) -> bool:
    """Of ``p``, by what stands after it: more than a name, or a name with a slice."""
    return re.fullmatch(r"[\w.@/:-]+(\[[-\d\s,:]*\])?", rest) is None


@verb(
    "p VAR[slice]",
    group="values",
    examples=("p h@GRAD", "p w[0, :2]", "p v['h'].max()"),
    then="stats x why",
    completes="tensor",
    evaluates=_is_expression,
)
def print_(book: Notebook, rest: str) -> Reply:
    """A tensor in a few words, and its numbers.

    As it is at the cursor; what is not made yet, as it will be. Anything that is no tensor is evaluated as Python.
    """
    if not rest:
        raise VerbError("p what?", hint="p h@GRAD · p w[0, :3]")
    session = book.session
    if rest not in scope.TensorsByName(session):
        name, bracket, index = rest.partition("[")
        if not bracket or name not in scope.TensorsByName(session):
            return _expression(session, rest)
        array = scope.evaluate(session, f"v[{name!r}][{index}", session.current)
    else:
        array = scope.freeze(session.branch.value(session.number(rest)))
    return _show_array(rest, array)


def _expression(session: Session, text: str) -> Reply:
    try:
        value = scope.evaluate(session, text, session.current)
    except NameError:
        if _NAME.fullmatch(text):  # a path such as net.head.weight is no expression to whoever types it
            raise unknown("tensor", text, session.timeline.names) from None
        raise
    except VerbError:
        raise unknown("tensor", text, session.timeline.names) from None
    if isinstance(value, np.ndarray):
        return _show_array(text, value)
    return Reply(repr(value), value=value)


def _show_array(name: str, array: Any) -> Reply:
    """An array in a few words, and its numbers."""
    numbers = np.array2string(np.asarray(array), threshold=60, edgeitems=3, max_line_width=110, prefix="  ")
    return Reply(f"{name} {show.describe(array)}\n  {numbers}", value=array)


def _tensor(session: Session, name: str, usage: str) -> np.ndarray[Any, Any]:
    """A tensor at the cursor, as numbers."""
    if not name:
        raise VerbError("of what?", hint=usage)
    value = session.branch.value(session.number(name))
    if not (hasattr(value, "dtype") or isinstance(value, RowArray)):
        raise VerbError(f"{name} holds no numbers.")
    return np.asarray(value)


@verb("stats [VAR]", group="values", examples=("stats", "stats h@GRAD"), then="hist top why", completes="tensor")
def stats(book: Notebook, rest: str) -> Reply:
    """Show the numbers of a tensor; without a tensor, the final gradients of this branch."""
    if rest:
        array = _tensor(book.session, rest, "stats VAR")
        return Reply(f"{rest} {show.dims(array)} {array.dtype.name}\n{_describe_array(array)}")
    return Reply(_gradients(book.session))


def _describe_array(array: np.ndarray[Any, Any]) -> str:
    if not array.size:
        return "  no elements"
    numbers = magnitudes.wide(array)
    finite = numbers[np.isfinite(numbers)]
    summary = Numbers.measure(array)
    rows = [("norm", _g(summary.norm)), ("mean", _g(summary.mean))]
    if finite.size:
        rows += [
            ("std", _g(float(finite.std()))),
            ("least", _g(float(finite.min()))),
            ("most", _g(float(finite.max()))),
        ]
    rows.append(("zeros", f"{summary.zeros} of {summary.elements}"))
    wrong = {k: int(m.sum()) for k, m in magnitudes.masks(array, None, True).items()}
    rows += [(kind, f"{n} of {summary.elements}") for kind, n in wrong.items()]
    text = "\n".join(f"  {label:<9} {value}" for label, value in rows)
    return text + ("\n  norm, mean, std, least and most are those of the finite elements" if summary.nonfinite else "")


def _gradients(session: Session) -> str:
    """A row for each parameter: its gradient, and that in terms of itself."""
    gradients = session.results(session.branch)
    if not gradients:
        return "the run is about no gradients"
    norms = {n: Numbers.measure(a).norm for n, a in gradients.items() if a is not None}
    positive = [x for x in norms.values() if x > 0]
    rows = [("gradient of", "shape", "‖g‖", "‖g‖/‖w‖", "", "")]
    shown = _gradient_names(gradients)
    for name, gradient in ((n, gradients[n]) for n in shown):
        if gradient is None:
            rows.append((name, "", "None", "", "", ""))
            continue
        g = Numbers.measure(gradient)
        weight = _norm_of(session, name)
        ratio = _g(g.norm / weight) if weight else ""
        wrong = "" if g.state == OK else g.state
        if g.nonfinite:
            wrong = f"✗ {g.state} {g.nonfinite}/{g.elements}"
        drawn = log_bar(g.norm, min(positive), max(positive)) if positive else ""
        norm = _g(g.norm) if g.nonfinite < g.elements or not g.elements else "–"
        rows.append((name, show.dims(gradient), norm, ratio if norm != "–" else "", drawn, wrong))
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(c + " " * (w - cells(c)) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    more = len(gradients) - len(shown)
    return "\n".join([*lines, f"{more} more, in which nothing is wrong · stats VAR@GRAD"] if more else lines)


_ROWS = 60
"""So many gradients are listed; those in which something is wrong always are."""


def _gradient_names(gradients: Mapping[str, Any]) -> list[str]:
    """The gradients that are listed, in their order."""
    if len(gradients) <= _ROWS:
        return list(gradients)
    wrong = {n for n, a in gradients.items() if a is None or Numbers.measure(a).state != OK}
    sound = [n for n in gradients if n not in wrong][: max(_ROWS - len(wrong), 0)]
    shown = wrong.union(sound)
    return [n for n in gradients if n in shown]


def _norm_of(session: Session, name: str) -> float:
    """The norm of a parameter as it is at the cursor; 0 where it is not known."""
    number = session.timeline.find(name, session.cursor)
    if number is None or not hasattr(session.branch.value(number), "dtype"):
        return 0.0
    return Numbers.measure(session.branch.value(number)).norm


def _g(value: float) -> str:
    return f"{value:.4g}"


_WIDTH = 40


@verb("hist VAR", group="values", examples=("hist w@GRAD",), then="top stats", completes="tensor")
def hist(book: Notebook, rest: str) -> Reply:
    """Count the elements of a tensor by order of magnitude."""
    array = _tensor(book.session, rest, "hist VAR")
    numbers = Numbers.measure(array)
    wrong = {k: int(m.sum()) for k, m in magnitudes.masks(array, None, False).items()}
    counts = list(wrong.items()) + ([("0", numbers.zeros)] if numbers.zeros else [])
    if numbers.decades:
        orders = range(min(numbers.decades), max(numbers.decades) + 1)
        counts += [(f"1e{k}", numbers.decades.get(k, 0)) for k in orders]
    if not counts:
        return Reply(f"{rest} {show.dims(array)}: no elements")
    top = max(n for _, n in counts)
    width = max(len(label) for label, _ in counts)
    digits = len(str(top))
    rows = [f"  {label:>{width}}  {n:>{digits}}  {bar(n / top, _WIDTH)}".rstrip() for label, n in counts]
    return Reply("\n".join([f"{rest} {show.describe(array)}", *rows]))


@verb("top VAR [k]", group="values", examples=("top w@GRAD", "top w@GRAD 3"), then="x hist", completes="tensor")
def top(book: Notebook, rest: str) -> Reply:
    """The k largest elements of a tensor with their indices; what is not finite first."""
    name, _, count = rest.rpartition(" ")
    if not name or not count.isdigit():
        name, count = rest, "5"
    array = _tensor(book.session, name.strip(), "top VAR k")
    k = min(int(count), array.size)
    if k < 1:
        raise VerbError(f"there are {array.size} elements, and {count} were asked for.", hint="top VAR k")
    flat = magnitudes.wide(array).reshape(-1)
    size = np.where(np.isnan(flat), np.inf, np.abs(flat))
    chosen = np.argpartition(-size, k - 1)[:k] if k < size.size else np.arange(size.size)
    order = chosen[np.lexsort((chosen, -size[chosen]))]
    labels = [_index(array.shape, int(i)) for i in order]
    width = max(map(len, labels))
    rows = [f"  {label:<{width}}  {array.reshape(-1)[i]}" for label, i in zip(labels, order, strict=True)]
    places = [tuple(map(int, np.unravel_index(int(i), array.shape))) for i in order]
    return Reply("\n".join([f"{name.strip()} {show.describe(array)}", *rows]), value=places)


def _index(shape: tuple[int, ...], flat: int) -> str:
    return f"[{', '.join(str(int(i)) for i in np.unravel_index(flat, shape))}]" if shape else "[]"


@verb("x VAR", group="values", examples=("x h@GRAD",), then="goto path contrib", completes="tensor")
def examine(book: Notebook, rest: str) -> Reply:
    """Everything about a tensor: its versions, who makes and who reads them, where, and its bytes."""
    session = book.session
    if not rest:
        raise VerbError("x what?", hint="x h@GRAD")
    here = session.number(rest)
    value = session.timeline.values[here]
    array = session.branch.value(here)
    also = [n for n in (value.name, *value.names) if n != rest]
    head = f"{rest}  {show.describe(array)}"
    if hasattr(array, "dtype"):
        held = getattr(array, "nbytes", None)
        nbytes = math.prod(array.shape) * array.dtype.itemsize if held is None else held
        head += f" · {array.dtype.name} · {nbytes} byte{'s' * (nbytes != 1)}"
    lines = [f"{head} · {value.role}"]
    if also:
        lines.append(f"  also called {', '.join(also)}")
    versions = session.timeline.versions(rest)
    readers: dict[int, list[str]] = {n: [] for n in versions}
    for e in session.timeline.entries:
        for n in {*e.inputs} & readers.keys():
            readers[n].append(f"{e.name} %{e.index + 1}")
    summed = {part for v in session.timeline.values if v.parts is not None for part in v.parts}
    for n in summed & readers.keys():
        readers[n].append("the sum below")
    for n in versions:
        lines += _version(session, n, readers[n], n == here and len(versions) > 1)
    return Reply("\n".join(lines), value=scope.freeze(array))


_READERS = 12


def _version(session: Session, number: int, readers: list[str], here: bool) -> list[str]:
    value = session.timeline.values[number]
    mark = "▶" if here else " "
    if value.maker == NOBODY:
        lines = [f"{mark} there before the run"]
    else:
        e = session.timeline.entries[value.maker]
        how = "summed after" if value.parts is not None else "made by"
        where = source.describe(e.loc)
        lines = [f"{mark} {how} {e.name} %{e.index + 1}" + (f"   {where}" if where else "")]
    if session.branch.is_edited(number):
        lines.append("    E edited in this branch")
    if value.parts is not None:
        parts = [session.timeline.values[p].name for p in session.timeline.parts_of(number)]
        lines.append(f"    the sum of {', '.join(parts)}")
    if readers:
        rest = f" and {len(readers) - _READERS} more" if len(readers) > _READERS else ""
        lines.append(f"    read by {', '.join(readers[:_READERS])}{rest}")
    else:
        lines.append("    read by nobody")
    return lines
