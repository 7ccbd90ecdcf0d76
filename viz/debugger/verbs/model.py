"""Verbs that ask about the model: why a gradient is as it is, which way it came, what it is the sum of, pictures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from gradtool.engine.answers.why.answers import Answer
from gradtool.engine.core import names, source
from gradtool.engine.files.writing import write_files
from gradtool.engine.questions.why import Verdicts
from gradtool.engine.runs.timeline import NOBODY, Entry
from gradtool.engine.view.graph import GraphView

from ... import excerpt
from ...text import cells
from ...views.why import answer_lines, summary
from .. import show, ways
from ..errors import VerbError, unknown
from ..notebook import Notebook
from ..session import Session
from . import Reply, verb

_AROUND = 5
"""Pairs before and after the cursor that ``program`` shows."""


@verb("why [VAR]", group="model", examples=("why", "why w"), then="path contrib goto", completes="tensor")
def why(book: Notebook, rest: str) -> Reply:
    """Why a tensor has no gradient, or a zero one; of all parameters where none is named.

    It is what gradtool why answers, told from the run of this session: the file is not run again. With a name, it
    also says what each use adds to the gradient.
    """
    ask = book.session.tools.get("why")
    if ask is None:
        raise VerbError("this session knows the run alone, not the model.", hint="path VAR · contrib VAR")
    answers = ask(rest.removesuffix(names.GRAD))
    lines = [*answer_lines(answers, bool(rest))]
    if not rest:
        lines.append(_summary(book.session, answers))
    if book.session.branch.edits:
        lines.append("this is about the run as it was recorded, without the edits of this branch")
    return Reply("\n".join(lines).rstrip(), value=answers)


def _summary(session: Session, answers: Sequence[Answer]) -> str:
    """Return how many gradients there are, in the words of the command where the session is about a file."""
    if isinstance(answers, Verdicts):
        return "" if answers.failure is not None else summary(answers, answers.findings)
    return show.gradients(session) if session.timeline.results else "the run is about no gradients"


# -- ways -------------------------------------------------------------------------------------------------------------


@verb(
    "path [A [B]]", group="model", examples=("path", "path w", "path h loss"), then="goto contrib", completes="tensor"
)
def path(book: Notebook, rest: str) -> Reply:
    """The way from the loss to a tensor's gradient (by default what the next operator makes), or from A to B."""
    session = book.session
    words = rest.split()
    if len(words) > 2:
        raise VerbError("expected one tensor or two.", hint="path w · path x loss")
    if len(words) == 2:
        return _path_between(session, *words)
    if words:
        name = words[0]
    else:
        numbers = [n for _, n in session.current.outs if n >= 0] if session.current is not None else []
        if not numbers:
            raise VerbError("the way to what?", hint="path VAR · path A B")
        name = session.timeline.values[numbers[0]].name
    return _path_from_loss(session, name)


def _path_from_loss(session: Session, name: str) -> Reply:
    timeline = session.timeline
    whole = name if name.endswith(names.GRAD) or not timeline.versions(names.grad(name)) else names.grad(name)
    goal = timeline.versions(whole)
    if not goal:
        raise unknown("tensor", name, timeline.names)
    if whole.endswith(names.GRAD):
        way = ways.shortest_path(timeline, ways.seeds(timeline), goal[-1])
        head = f"from the loss to {whole}"
    elif timeline.loss is not None and (way := ways.shortest_path(timeline, [*goal], timeline.loss)) is not None:
        loss = timeline.values[timeline.loss].name
        if all(timeline.values[n].maker < timeline.begin for n in goal):
            return Reply(f"no gradient reaches {name} · why {name} says why\n{_way(session, way, name, loss)}")
        head = f"from {name} to {loss}"
    else:
        way, head = None, ""
    if way is None:
        return Reply(f"no way leads from the loss to {name}")
    return Reply(_way(session, way, "", "", head), value=[e.name for e in way])


def _path_between(session: Session, a: str, b: str) -> Reply:
    timeline = session.timeline
    for name in (a, b):
        if not timeline.versions(name):
            raise unknown("tensor", name, timeline.names)
    for start, end in ((a, b), (b, a)):
        goals = timeline.versions(end)
        ends = (ways.shortest_path(timeline, timeline.versions(start), goal) for goal in goals)
        nearest = next((way for way in ends if way is not None), None)
        if nearest is not None:
            return Reply(_way(session, nearest, start, end), value=[e.name for e in nearest])
    return Reply(f"no way leads from {a} to {b}, nor back")


_ENDS = 20
"""Of a long way, so many operators are shown at either end."""


def _way(session: Session, way: Sequence[Entry], start: str, end: str, head: str = "") -> str:
    rows = [(f"%{e.index + 1}", e.name, source.short(e.loc), e.layer, _outputs(session, e)) for e in way]
    lines = [f"{head or f'from {start} to {end}'} · {len(way)} operator{'s' * (len(way) != 1)}"]
    columns = [0, 1, 2, *([3] if any(e.layer for e in way) else [])]
    widths = {i: max((cells(row[i]) for row in rows), default=0) for i in columns}
    middle = range(_ENDS, len(rows) - _ENDS) if len(rows) > 2 * _ENDS + 1 else range(0)
    for at, row in enumerate(rows):
        if at in middle:
            if at == middle.start:
                lines.append(f"  … {len(middle)} more operators")
            continue
        padded = (row[i] + " " * (w - cells(row[i])) for i, w in widths.items())
        mark = "▶" if session.current is not None and row[1] == session.current.name else " "
        lines.append(f"{mark} {'  '.join(padded)}  {row[4]}".rstrip())
    return "\n".join(lines)


def _outputs(session: Session, entry: Entry) -> str:
    values = session.timeline.values
    ready = [n for _, n in entry.outs if n >= 0]
    return ", ".join(
        f"{values[n].name} {show.describe(session.branch.make(n))}" if session.branch.is_ready(n) else values[n].name
        for n in ready
    )


# -- summands ---------------------------------------------------------------------------------------------------------


@verb("contrib VAR", group="model", examples=("contrib h",), then="path goto", completes="tensor")
def contrib(book: Notebook, rest: str) -> Reply:
    """Show what each use of a tensor adds to its gradient: norm, cosine with the sum, operator and line."""
    if not rest:
        raise VerbError("of what?", hint="contrib w")
    session = book.session
    timeline, end = session.timeline, len(session.timeline.entries)
    name = names.grad(rest.removesuffix(names.GRAD))
    versions = timeline.versions(name)
    if not versions:
        if timeline.versions(rest):
            return Reply(f"no gradient reaches {rest} · why {rest} says why")
        raise unknown("tensor", rest, timeline.names)
    total = session.branch.value(versions[-1], end)
    parts = ways.summands(timeline, versions[-1])
    rows = []
    for number in parts:
        array = session.branch.value(number, end)
        maker = timeline.values[number].maker
        entry = timeline.entries[maker] if maker != NOBODY else None
        cosine = _cosine(array, total)
        rows.append(
            (
                entry.name if entry is not None else "the start",
                source.short(entry.loc) if entry is not None else "",
                show.describe(array),
                "" if cosine is None else f"cosine {cosine:+.3f}",
            )
        )
    widths = [max(cells(row[i]) for row in rows) for i in range(3)]
    lines = [f"{name} {show.describe(total)} · {len(rows)} contribution{'s' * (len(rows) != 1)}"]
    for row in rows:
        padded = (text + " " * (w - cells(text)) for text, w in zip(row[:3], widths, strict=True))
        lines.append(f"  {'  '.join(padded)}  {row[3]}".rstrip())
    return Reply("\n".join(lines), value=[session.branch.value(n, end) for n in parts])


def _cosine(one: object, other: object) -> float | None:
    a, b = (np.asarray(x).astype(np.float64).ravel() for x in (one, other))
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return None
    scale = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / scale if scale else None


# -- pictures ---------------------------------------------------------------------------------------------------------


def _view(session: Session) -> GraphView:
    picture = session.timeline.picture
    if picture is None:
        raise VerbError("there is no graph: the run failed before backward.", hint="list shows the operators")
    return picture()


def _graph_arguments(rest: str) -> tuple[str, str | None]:
    """Return what ``graph`` is to show, and the file for it."""
    asked, output, file = rest.partition("-o ") if not rest.startswith("-o") else ("", "-o", rest[2:])
    return asked.strip(), file.strip() if output else None


@verb(
    "graph [VAR] [-o FILE.svg]",
    group="model",
    examples=("graph", "graph w", "graph w -o near.svg"),
    then="path program",
    completes="tensor",
    writes=lambda rest: _graph_arguments(rest)[1] is not None,
)
def graph(book: Notebook, rest: str) -> Reply:
    """A picture of what is near a tensor, an operator, or the cursor."""
    from ...mirror.layout import mirror
    from ...render import svg, text

    session = book.session
    view = _view(session)
    asked, file = _graph_arguments(rest)
    if file is not None and not file.endswith(".svg"):
        raise VerbError(f"expected a name that ends with .svg, but got {file!r}.", hint="graph h@GRAD -o near.svg")
    near = excerpt.focus(view, _nodes(session, view, asked), radius=2)
    drawn = svg.render(mirror(near))
    if file is None:
        return Reply(text.render(near).rstrip(), svg=drawn)
    try:
        write_files({file: drawn.encode("utf-8", "backslashreplace")})
    except OSError as error:
        raise VerbError(f"cannot write {file}: {error.strerror or error}") from None
    return Reply(f"wrote {file}", svg=drawn)


def _nodes(session: Session, view: GraphView, asked: str) -> list[str]:
    """The ids of the nodes that are meant."""
    if asked and (number := session.timeline.find(asked, session.cursor)) is not None:
        value = session.timeline.values[number]
        wanted: Iterable[str] = {asked, value.name, *value.names}
    elif asked:
        wanted = {session.entry(asked).name}
    else:
        entries = session.timeline.entries
        drawn = {n.name for n in view.nodes}
        here = [e for e in [session.current, *reversed(entries)] if e is not None and e.name in drawn]
        wanted = {here[0].name} if here else set()
    ids = [n.id for n in view.nodes if not set(_names_in_picture(n.name)).isdisjoint(wanted)]
    if not ids:
        raise VerbError(f"{asked or 'the next operator'} stands in no graph: no gradient flows through it.")
    return ids


def _names_in_picture(name: str) -> list[str]:
    """A name in a picture, and both names of ``path (name)``."""
    first, bracket, second = name.partition(" (")
    return [name, first, second[:-1]] if bracket and name.endswith(")") else [name]


@verb("program [all]", group="model", examples=("program", "program all"), then="list graph")
def program(book: Notebook, rest: str) -> Reply:
    """Forward operators beside their gradient operators, around the cursor, or all of them."""
    from ...render import text

    if rest not in ("", "all"):
        raise VerbError(f"expected nothing or all, but got {rest!r}.", hint="program · program all")
    session = book.session
    view = _view(session)
    pairs = text.pairs(view)
    headings, rows = text.table(view)
    at = {n.name: i for i, p in enumerate(pairs) for n in (p.backward, p.forward) if n is not None}
    here = at.get(session.current.name) if session.current is not None else None
    first, last = 0, len(rows)
    if not rest:
        middle = here if here is not None else 0
        first, last = max(0, middle - _AROUND), middle + _AROUND + 1
    shown = [[" ", *headings], *([("▶" if i == here else " "), *rows[i]] for i in range(first, min(last, len(rows))))]
    widths = [max(map(cells, column)) for column in zip(*shown, strict=True)]
    lines = ["  ".join(c + " " * (w - cells(c)) for c, w in zip(r, widths, strict=True)).rstrip() for r in shown]
    if len(shown) - 1 < len(rows):
        lines.append(f"{len(shown) - 1} of {len(rows)} pairs · program all shows the others")
    return Reply("\n".join(lines))
