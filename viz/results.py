"""Answers as tables: what notebooks show of them, and what is written to files."""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, singledispatch
from itertools import chain
from typing import Any, Final

from gradtool.engine.answers.birth import Birth
from gradtool.engine.answers.gradcheck import GradcheckStory
from gradtool.engine.answers.nan import NanStory
from gradtool.engine.answers.profile import ProfileStory
from gradtool.engine.answers.saved import SavedStory
from gradtool.engine.answers.stats import StatsStory
from gradtool.engine.answers.why.answers import Answer, Answers
from gradtool.engine.core import source
from gradtool.engine.core.source import Location

from . import endings, views
from .notebook import notebook_display
from .on_terminal import rich_table
from .table import TextTable
from .text import printable
from .tones import TONES
from .views.view import View, to_text

NOTHING: Final = "–"


def view(answer: Any) -> View:
    """Return what the command that gives an answer shows of it."""
    return views.view_of(answer)


def print_answer(answer: Any) -> str:
    """An answer about a model as its command prints it."""
    return to_text(view(answer))


@singledispatch
def tables(result: Any) -> list[TextTable]:
    """The tables of a result; none where its text says all."""
    return []


@tables.register
def _(result: TextTable) -> list[TextTable]:
    return [result]


@tables.register
def _(result: StatsStory) -> list[TextTable]:
    headings = ["parameter", "shape", "‖g‖", "‖g‖/‖w‖", "max |g|", "zeros", "not finite", "verdict", "source"]
    rows = []
    for line in result.parameters:
        g = line.gradient
        sizes = [NOTHING] * 5
        if g is not None:
            sizes = [_number(g.norm), _number(line.ratio), _number(g.largest), str(g.zeros), str(g.nonfinite)]
        rows.append([line.name, _shape(line.shape), *sizes, line.verdict, _place(line.loc)])
    return [TextTable("gradients", headings, rows)]


@tables.register
def _(result: SavedStory) -> list[TextTable]:
    headings = ["tensor", "made by", "shape", "dtype", "bytes", "read by", "can be computed again", "source"]
    rows = [
        [
            b.tensor or b.slot,
            b.producer.type if b.producer is not None else NOTHING,
            _shape(b.shape),
            b.dtype,
            str(b.nbytes),
            ", ".join(dict.fromkeys(r.type for r in b.readers)),
            "yes" if b.recompute else "no",
            _place(b.producer.loc if b.producer is not None else ()),
        ]
        for b in sorted(result.kept, key=lambda b: -b.nbytes)
    ]
    return [TextTable("kept for backward", headings, rows)]


@tables.register
def _(result: ProfileStory) -> list[TextTable]:
    headings = ["type", "calls", "median µs", "spread µs", "bytes"]
    rows = [
        [g.name, str(g.calls), f"{1e6 * g.median:.1f}", f"{1e6 * g.spread:.1f}", str(g.nbytes)]
        for g in (*result.group_by("type"), result.total)
        if g.seconds
    ]
    return [TextTable(f"time of operators, {result.repeats} repeats", headings, rows)]


@tables.register
def _(result: NanStory) -> list[TextTable]:
    headings = ["kind", "part", "operator", "tensor", "elements", "cause", "advice", "source"]

    def table(title: str, births: Iterable[Birth]) -> TextTable:
        return TextTable(title, headings, [_birth(b) for b in births])

    named = (("births", result.births), ("absorbed", result.absorbed), ("intended", result.intended))
    return [table(title, births) for title, births in named if births]


def _birth(b: Birth) -> list[str]:
    return [b.kind, b.part, b.type, b.name or b.slot, f"{b.count} of {b.total}", b.cause, b.advice, _place(b.loc)]


@tables.register
def _(result: GradcheckStory) -> list[TextTable]:
    headings = ["input", "order", "status", "worst element", "gradient", "difference", "cause", "source"]
    rows = []
    for e in result.entries:
        worst, pair = NOTHING, [NOTHING, NOTHING]
        if e.index is not None and e.element is not None:
            worst, pair = str(list(e.index)), [_number(v) for v in e.element]
        rows.append([e.name, str(e.order), e.status, worst, *pair, e.cause or NOTHING, _place(e.loc)])
    return [TextTable("gradients and differences", headings, rows)]


@tables.register
def _(result: Answers) -> list[TextTable]:
    headings = ["tensor", "gradient", "verdict", "source", "line", "advice"]
    rows = [[a.name, a.state or NOTHING, a.label, a.source or NOTHING, a.code, a.advice] for a in result]
    return [TextTable("verdicts", headings, rows)]


@tables.register
def _(result: Answer) -> list[TextTable]:
    return tables(Answers([result]))


def render_terminal(result: Any) -> Iterator[Any]:
    """Yield what rich prints of a result: its tables, and text where they do not say all."""
    from rich.text import Text

    sheets = tables(result)
    if sheets != [result]:
        yield Text(str(result))
    for table in sheets:
        yield rich_table(table.headings, table.rows, partial(_style, table), title=table.title or None)


def _style(table: TextTable, cell: str) -> str:
    return next((TONES[tone] for start, tone in table.tones.items() if cell.startswith(start)), "")


def _number(value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{value:.4g}" if math.isfinite(value) else str(value)


def _shape(shape: Sequence[int]) -> str:
    return "×".join(map(str, shape)) or "[]"


def _place(location: Location) -> str:
    return source.short(location) or NOTHING


# -- showing and saving ------------------------------------------------------------------------------------------------


def bundle(result: Any) -> dict[str, str]:
    """MIME type -> content: text always, tables where there are some."""
    forms = {"text/plain": str(result)}
    sheets = tables(result)
    if sheets:
        forms["text/html"] = "".join(t.html() for t in sheets)
    return forms


def show(result: Any) -> None:
    """Show a result: in a notebook below the cell, elsewhere as text on standard output."""
    display = notebook_display()
    if display is not None:
        display(result)
    else:
        print(result)


def save(result: Any, path: str | os.PathLike[str]) -> None:
    """Write a result to a file, in the form that the file's ending asks for.

    Raises:
        ValueError: there is no form for the ending.
        OSError: the file cannot be written.
    """
    endings.save(result, path, {**FORMS, **_forms_of(result)}, "answer.html")


def _forms_of(result: Any) -> dict[str, Callable[[Any], str | bytes]]:
    """The forms that only results of this kind have."""
    module = OWN_FORMS.get(type(result).__name__)
    return {} if module is None else importlib.import_module(module, __package__).FORMS


def to_pandas(result: Any) -> Any:
    """A result as a ``pandas.DataFrame``."""
    from .frames import frame

    return frame(result, tables(result))


def _text(result: Any) -> str:
    return f"{result}\n"


def _tsv(result: Any) -> str:
    rows = chain.from_iterable((t.headings, *t.rows) for t in tables(result))
    return "\n".join("\t".join(printable(c.replace("\\", "\\\\")) for c in row) for row in rows) + "\n"


def _markdown(result: Any) -> str:
    from .document.markdown import blocks

    return "\n\n".join(blocks(tables(result))) + "\n"


def _page(result: Any) -> str:
    from .document.blocks import Document, Lines, Section
    from .document.html import to_html

    sheets = tables(result)
    title = sheets[0].title if sheets else type(result).__name__
    return to_html(Document(title, (), (Section("answer", title, (Lines(str(result)), *sheets)),)))


FORMS: Final[dict[str, Callable[[Any], str]]] = {
    ".txt": _text,
    ".html": _page,
    ".htm": _page,
    ".md": _markdown,
    ".tsv": _tsv,
}
"""Ending of a file -> the text that is written to it."""

OWN_FORMS: Final = {"Training": ".over_time.forms", "Swept": ".sweeps.forms"}
"""The class of an answer -> the module with the forms that only it has."""
