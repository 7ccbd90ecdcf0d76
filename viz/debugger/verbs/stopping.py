"""Verbs that say where a run stops."""

from __future__ import annotations

from .. import stops
from ..errors import VerbError
from ..notebook import Notebook
from ..stops import Stop
from . import Reply, always, conditional, verb

_BREAK = "break op:T | VAR | line:F:N | layer:L [if EXPR]"


def _break(book: Notebook, rest: str, once: bool) -> Reply:
    if not rest:
        return Reply(_list_stops([s for s in book.session.stops if s.kind == "break"], "breakpoint", _BREAK))
    where, _, condition = rest.partition(" if ")
    matches, told = stops.breakpoint_at(book.session, where.strip())
    if condition:
        _check_expression(condition)
    stop = book.session.add("break", where.strip(), matches=matches, condition=condition.strip(), once=once)
    return Reply(f"● break {stop.number} at {stop.description} · {told}", value=stop.number)


def _check_expression(text: str) -> None:
    try:
        compile(text.strip(), "<debugger>", "eval")
    except SyntaxError as error:
        raise VerbError(f"{text.strip()!r} is no Python expression: {error.msg}.") from None


def _list_stops(selection: list[Stop], what: str, usage: str) -> str:
    if not selection:
        return f"no {what} is set · {usage}"
    return "\n".join(_row(s) for s in selection)


def _row(s: Stop) -> str:
    state = "" if s.enabled else " · disabled"
    return f"{s.number:>3}  {s.kind:<5}  {s.description} · {s.hits} hit{'s' * (s.hits != 1)}{state}"


@verb(
    _BREAK,
    "b",
    group="stops",
    examples=("break op:relu_grad", "break h@GRAD", "break line:model.py:9", "break op:*_grad if np.isnan(dout).any()"),
    then="continue hits delete",
    completes="place",
    evaluates=conditional,
)
def breakpoint_(book: Notebook, rest: str) -> Reply:
    """Stop before an operator of that type, where a tensor is made, at a line or in a layer.

    op:T is the name of an operator or a type, also with *; VAR a tensor, which means what makes it; line:F:N a line of
    source; layer:L a layer and all that is inside it. With if, only where the expression is true there: it sees what
    expressions at the prompt see, with cur the operator that is stopped before. Alone, it lists the breakpoints.
    """
    return _break(book, rest, once=False)


@verb(
    "tbreak WHERE [if EXPR]",
    "tb",
    group="stops",
    examples=("tbreak h@GRAD",),
    then="continue hits",
    completes="place",
    evaluates=conditional,
)
def once(book: Notebook, rest: str) -> Reply:
    """As break, but only once."""
    return _break(book, rest, once=True)


@verb(
    "catch nan|inf|big=1e4|zero|none [if EXPR]",
    group="stops",
    examples=("catch nan", "catch big=1e4", "catch zero none"),
    then="continue rcontinue delete",
    completes="catch",
    evaluates=conditional,
)
def catch(book: Notebook, rest: str) -> Reply:
    """Stop at an operator whose results are not finite, too big, all zero, or missing.

    nan: NaN or infinity; inf: infinity alone; big=1e4: sizes above that; zero: a gradient that becomes zero; none: a
    gradient operator that passes nothing on. Numbers are caught where they are born, not where they are carried on.
    """
    if not rest:
        return Reply(_list_stops([s for s in book.session.stops if s.kind == "catch"], "catch", "catch nan"))
    kinds, _, condition = rest.partition(" if ")
    if condition:
        _check_expression(condition)
    asked = [(k, *stops.catch(k)) for k in kinds.replace(",", " ").split()]
    catches = [book.session.add("catch", k, limit=limit, condition=condition.strip()) for k, _, limit in asked]
    return Reply("\n".join(f"● catch {s.number}: {s.description}" for s in catches))


@verb(
    "watch EXPR",
    "w",
    group="stops",
    examples=("watch w@GRAD", "watch np.abs(v['h']).max()"),
    then="continue hits delete",
    completes="tensor",
    evaluates=always,
)
def watch(book: Notebook, rest: str) -> Reply:
    """Stop when the value of an expression has changed.

    The name of a tensor alone means that tensor. What cannot be computed yet counts as a value of its own.
    """
    if not rest:
        return Reply(_list_stops([s for s in book.session.stops if s.kind == "watch"], "watch", "watch EXPR"))
    text = f"v[{rest!r}]" if book.session.timeline.versions(rest) else rest
    _check_expression(text)
    now = book.session.look(text)
    stop = book.session.add("watch", text)
    told = f" · for now {now}" if isinstance(now, stops.Raised) else ""
    return Reply(f"● watch {stop.number}: {text}{told}", value=stop.number)


@verb("delete [N …]", "d", group="stops", examples=("delete", "delete 1"), then="hits", completes="stop")
def delete(book: Notebook, rest: str) -> Reply:
    """Take breakpoints, catches and watches away; all of them where none is named."""
    selection = [book.session.stop(n) for n in rest.replace(",", " ").split()] if rest else list(book.session.stops)
    for s in selection:
        book.session.stops.remove(s)
    return Reply(f"{len(selection)} deleted")


@verb("disable [N …]", group="stops", examples=("disable", "disable 1"), then="enable hits", completes="stop")
def disable(book: Notebook, rest: str) -> Reply:
    """Have breakpoints, catches and watches stop nothing for now."""
    return _switch(book, rest, False)


@verb("enable [N …]", group="stops", examples=("enable", "enable 1"), then="hits continue", completes="stop")
def enable(book: Notebook, rest: str) -> Reply:
    """Have them stop the run again."""
    return _switch(book, rest, True)


def _switch(book: Notebook, rest: str, on: bool) -> Reply:
    selection = [book.session.stop(n) for n in rest.replace(",", " ").split()] if rest else list(book.session.stops)
    for s in selection:
        s.enabled = on
    return Reply(f"{len(selection)} {'enabled' if on else 'disabled'}")


@verb("hits", group="stops", examples=("hits",), then="delete disable")
def hits(book: Notebook, rest: str) -> Reply:
    """All breakpoints, catches and watches, and how often they stopped the run."""
    return Reply(_list_stops(book.session.stops, "breakpoint, catch or watch", _BREAK))
