"""Places where a run stops: breakpoints, catches and watches, numbered together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtool.engine.answers import magnitudes
from gradtool.engine.core import source
from gradtool.engine.core.records import dataclass
from gradtool.engine.core.rows import RowArray
from gradtool.engine.runs.timeline import NOBODY, Entry

from . import scope
from .errors import VerbError, unknown

if TYPE_CHECKING:
    from .session import Session


@dataclass
class Stop:
    """A breakpoint, a catch or a watch.

    Attributes:
        number: what people call it by.
        kind: ``break``, ``catch`` or ``watch``.
        text: what was asked for.
        condition: an expression that must be true, or empty.
        once: whether it is deleted when it has stopped the run.
        hits: how often it has.
        foreign: whether it stands in a saved session.
    """

    number: int
    kind: str
    text: str
    matches: Callable[[Entry], bool] = field(default=lambda entry: False, repr=False)
    condition: str = ""
    once: bool = False
    enabled: bool = True
    hits: int = 0
    seen: Any = None
    limit: float = 0.0
    foreign: bool = False

    @property
    def expression(self) -> str:
        """Expression that decides whether it stops the run; empty if there is none."""
        return self.text if self.kind == "watch" and not scope.is_tensor(self.text) else self.condition

    @property
    def description(self) -> str:
        return self.text + (f" if {self.condition}" if self.condition else "")


class Raised(str):
    """Error that an expression raised, in place of its value."""


def breakpoint_at(session: Session, text: str) -> tuple[Callable[[Entry], bool], str]:
    """Return the entries that a breakpoint stops before, and a description of their number; *text* as for
    :func:`places`.

    Raises:
        VerbError: nothing is called so.
    """
    indices = places(session, text)
    return (lambda entry: entry.index in indices), f"{len(indices)} operator{'s' * (len(indices) != 1)}"


def places(session: Session, text: str, here: bool = False) -> set[int]:
    """The indices of the entries that a place means.

    ``op:T`` names an operator or a type (also with ``*``), ``line:FILE:N`` a line of source, ``layer:L`` a layer.
    Without a word in front it is a tensor, whose makers are meant, an operator or a type, or a line.

    Args:
        here: whether one of them is to be gone to, and not to be stopped before: an operator is what is looked for
            first, and the gradient of a tensor is not meant by the tensor's name.

    Raises:
        VerbError: nothing is called so; the hint names what comes close.
    """
    kind, colon, rest = text.partition(":")
    look = _KINDS.get(kind) if colon else None
    if look is not None:
        indices = look(session, rest)
        if not indices:
            raise _nowhere(session, text, kind, rest)
        return indices
    order = (_match_operators, _match_lines, _match_tensor) if here else (_match_tensor, _match_operators, _match_lines)
    indices = next(filter(None, (look(session, text) for look in order)), set())
    if not indices and not here:
        indices = _match_tensor(session, f"{text}@GRAD")
    if not indices:
        raise _nowhere(session, text, "", text)
    return indices


def _match_operators(session: Session, text: str) -> set[int]:
    return {e.index for e in session.timeline.entries if fnmatchcase(e.name, text) or fnmatchcase(e.type, text)}


def _match_lines(session: Session, text: str) -> set[int]:
    return {e.index for e in session.timeline.entries if is_on_line(e, text)}


def _match_layer(session: Session, text: str) -> set[int]:
    """Of a layer and those inside it; a path may begin with what holds the model (``net.head`` for ``head``)."""
    layers = [(e.index, e.layer) for e in session.timeline.entries if e.layer]
    inside = {i for i, layer in layers if fnmatchcase(layer, text) or layer.startswith(f"{text}.")}
    return inside or ({i for i, layer in layers if text.endswith(f".{layer}")})


def _match_tensor(session: Session, text: str) -> set[int]:
    return {session.timeline.values[n].maker for n in session.timeline.versions(text)} - {NOBODY}


_KINDS = {"op": _match_operators, "line": _match_lines, "layer": _match_layer}
"""What may stand before a colon -> the entries that are meant by what stands after it."""

_NO_LAYERS = "nothing here belongs to a layer: a place is an operator, a tensor or FILE:LINE"

_NAMED = 5
"""So many layers are named where none comes close."""

PLACES = "a place is an operator or its type, a tensor, FILE:LINE or layer:NAME; list shows those around the cursor"


def _nowhere(session: Session, text: str, kind: str, rest: str) -> VerbError:
    """The error for a place that there is not, with those that come close."""
    entries = session.timeline.entries
    if rest.isdigit() and 1 <= int(rest) <= len(entries):
        return VerbError(f"there is no operator made by line {rest}.", hint=f"%{rest} is operator {rest} of the run")
    if close := closest_lines(entries, rest):
        return VerbError(f"no operator was made by line {rest}.", hint=f"the nearest are {', '.join(close)}")
    readers = {n for n in session.timeline.versions(text) if session.timeline.values[n].maker == NOBODY}
    if readers:
        first = next((e.name for e in entries if not readers.isdisjoint(e.inputs)), None)
        hint = f"{first} is the first to read it" if first is not None else f"x {text} says what is known of it"
        return VerbError(f"no operator makes {text}: it is there before the run.", hint=hint)
    layers = [e.layer for e in entries if e.layer]
    if kind == "layer":
        some = ", ".join(list(dict.fromkeys(layers))[:_NAMED])
        return unknown("layer", rest, dict.fromkeys(layers), otherwise=f"there is {some}" if some else _NO_LAYERS)
    names = dict.fromkeys([*(e.name for e in entries), *(e.type for e in entries)])
    if kind == "op":
        return unknown("operator", rest, names, otherwise=PLACES)
    if kind == "line":
        return unknown("line", rest, [source.short(e.loc) for e in entries if e.loc], otherwise=PLACES)
    what = "operator and no tensor"
    return unknown(what, rest, [*names, *session.timeline.names, *dict.fromkeys(layers)], otherwise=PLACES)


def is_on_line(entry: Entry, text: str) -> bool:
    """Return whether ``FILE:N`` or ``N`` is the line of an entry."""
    place = source.file_and_line(entry.loc)
    file, _, number = text.rpartition(":")
    if place is None or not number.isdigit() or place[1] != int(number):
        return False
    return not file or place[0] == file or place[0].replace("\\", "/").endswith(f"/{file}")


def closest_lines(entries: Sequence[Entry], text: str, most: int = 3) -> Sequence[str]:
    """The lines of operators that come closest to ``FILE:N`` or ``N``, the nearest first; none if *text* is no line."""
    file, _, number = text.rpartition(":")
    if not number.isdigit():
        return []
    shown = {source.short(e.loc): place[1] for e in entries if (place := source.file_and_line(e.loc)) is not None}
    base = file.replace("\\", "/").rpartition("/")[2]
    there = [name for name in shown if not file or name.rpartition(":")[0] == base]
    return sorted(there, key=lambda name: (abs(shown[name] - int(number)), shown[name]))[:most]


CATCHES = ("nan", "inf", "big", "zero", "none")


def catch(text: str) -> tuple[str, float]:
    """The kind of a catch, and its limit.

    Raises:
        VerbError: there is no such kind.
    """
    kind, equals, limit = text.partition("=")
    if kind not in CATCHES or (bool(equals) != (kind == "big")):
        raise VerbError(
            f"cannot catch {text!r}.", hint="catch nan (or infinite) · inf · big=1e4 · zero · none (no gradient made)"
        )
    if kind != "big":
        return kind, math.inf
    try:
        return kind, float(limit)
    except ValueError:
        raise VerbError(f"big={limit}: expected a number.") from None


def catch_message(session: Session, kind: str, limit: float, entry: Entry) -> str:
    """Return a catch's message about what an entry makes; empty if there is none.

    Numbers are caught where they are born, not where they are carried on: what the entry reads is not wrong itself, or
    it is what was there before the run, such as data or a weight, and this is the first entry to read it.
    """
    if kind == "none":
        return _gradient_gap(session, entry)
    fault = ""
    for _, number in entry.outs:
        if number >= 0:
            fault = fault or wrong(session.branch.value(number, entry.index + 1), kind, limit)
    if kind in _COMING_IN and (name := _came_in(session, entry, kind)):
        return f"{kind} in {name}, there before the run"
    if not fault:
        return ""
    read = [session.branch.value(n, entry.index) for n in entry.inputs]
    if kind == "zero":
        arriving = [session.branch.value(n, entry.index) for s, n in entry.reads if s.endswith("@GRAD")]
        return fault if entry.backward and any(np.any(np.asarray(a)) for a in arriving) else ""
    return "" if is_carried(fault, [wrong(a, kind, limit) for a in read]) else fault


_COMING_IN = ("nan", "inf")
"""What is also caught in data, weights and whatever else no operator of the run has made."""


def is_carried(fault: str, read: Iterable[str]) -> bool:
    """Return whether *fault* was in what was read already; NaN is born where infinity alone was read."""
    return any(other == fault or (other and fault != "nan") for other in read)


def _came_in(session: Session, entry: Entry, kind: str) -> str:
    """The name of a value from before the run that holds what is caught, where this is the first entry to read it."""
    values = session.timeline.values
    for number in entry.inputs:
        if values[number].maker != NOBODY or values[number].parts is not None:
            continue
        first = session.first_reader(number)
        if first == entry.index and wrong(session.branch.value(number, entry.index), kind, math.inf) == kind:
            return values[number].name
    return ""


def wrong(value: Any, kind: str, limit: float) -> str:
    """Return what a catch of that kind finds in a value; empty if there is nothing."""
    if not (hasattr(value, "dtype") or isinstance(value, RowArray)):
        return ""
    array = magnitudes.plain(value)
    if not magnitudes.holds_numbers(array) or not array.size:
        return ""
    if kind == "zero":
        return "zero" if not np.any(array) else ""
    wrong = magnitudes.masks(array, limit if kind == "big" else None, False)
    if kind == "big":
        return "overflow" if magnitudes.OVERFLOW in wrong else ""
    if kind == "nan" and magnitudes.NAN in wrong:
        return "nan"
    if kind == "nan":
        return "inf" if wrong else ""
    return "inf" if magnitudes.INF in wrong else ""


def _gradient_gap(session: Session, entry: Entry) -> str:
    """``none`` if a gradient operator passes nothing on to something that wants a gradient."""
    if not entry.backward or entry.pair < 0:
        return ""
    wanted = session.wanting
    forward = session.timeline.entries[entry.pair]
    names = {session.timeline.values[n].name.partition("@GRAD")[0] for n in entry.made}
    for _, number in forward.reads:
        name = session.timeline.values[number].name
        if name in wanted and name not in names:
            return "none"
    return ""


def holds(session: Session, stop: Stop, entry: Entry) -> bool:
    """Return whether the condition of a stop is true at an entry.

    Raises:
        VerbError: the condition fails.
    """
    if not stop.condition:
        return True
    try:
        with session.replay_file(stop.foreign):
            return bool(np.all(scope.evaluate(session, stop.condition, entry)))
    except VerbError:
        raise
    except Exception as error:
        raise VerbError(
            f"the condition of {stop.kind} {stop.number} ({stop.condition}) raised {type(error).__name__}: {error}",
            hint=f"delete {stop.number} removes it",
        ) from None
