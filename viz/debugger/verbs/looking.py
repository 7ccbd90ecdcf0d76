"""Verbs that show operators: those around, their source, the user's stack, what is inside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradtool.engine.core import source
from gradtool.engine.runs.timeline import Entry

from .. import regions, show
from ..errors import VerbError
from ..notebook import Notebook
from ..regions import BlockRun
from . import Reply, nothing, verb


@verb("list [n]", "l", group="looking")
def list_(book: Notebook, rest: str) -> Reply:
    """The operators around the cursor, n before and after it."""
    if rest and not rest.isdigit():
        raise VerbError(f"expected a number, but got {rest!r}.", hint="list [n]")
    around = int(rest or 5)
    session = book.session
    entries = session.timeline.entries
    shown = entries[max(0, session.cursor - around) : session.cursor + around + 1]
    letters = show.states(session, shown)
    width = max((len(v) for v in letters.values()), default=1)
    rows = [_row(book, e, letters[e.index].ljust(width), len(str(len(entries)))) for e in shown]
    if session.current is None:
        rows.append(show.at_cursor(session))
    return Reply("\n".join(rows))


def _row(book: Notebook, e: Entry, letters: str, digits: int) -> str:
    values = book.session.timeline.values
    outputs = ", ".join(values[n].name for _, n in e.outs if n >= 0 and values[n].name)
    pair = show.paired(book.session, e)
    return (
        f"{letters} %{e.index + 1:<{digits}}  {e.name}"
        + (f" → {outputs}" if outputs else "")
        + (f"  ↔ {pair}" if pair else "")
    )


def _asked(book: Notebook, rest: str) -> Entry:
    """The operator that is asked about: by default the next one, at the end the last one."""
    session = book.session
    if rest:
        return session.entry(rest)
    if not session.timeline.entries:
        raise VerbError("the run has no operators.")
    return session.current or session.timeline.entries[-1]


@verb("src [OP] [n]", group="looking", completes="op")
def src(book: Notebook, rest: str) -> Reply:
    """The forward source of an operator with its pair, n lines before and after it."""
    words = rest.split()
    around = int(words.pop()) if words and words[-1].isdigit() else 5
    entry = _asked(book, " ".join(words))
    lines = show.excerpt(entry, around, show.paired(book.session, entry))
    if not lines:
        return Reply(f"{entry.name}: it is not known where it was made")
    pair = show.paired(book.session, entry)
    head = f"{entry.name}   {source.short(entry.loc)} in {entry.loc[0][0].co_name}"
    return Reply("\n".join([head + (f"   {entry.part}, its pair is {pair}" if pair else f"   {entry.part}"), *lines]))


@verb("stack [OP]", "bt", "where", group="looking", completes="op")
def stack(book: Notebook, rest: str) -> Reply:
    """The user's stack when an operator was made, the innermost call last."""
    entry = _asked(book, rest)
    if not entry.loc:
        return Reply(f"{entry.name}: it is not known where it was made")
    rows = [
        (f"{file}:{line} in {function}", source.text(code, line))
        for (file, line, function), (code, _) in zip(source.frames(entry.loc), entry.loc, strict=True)
    ]
    width = max(len(place) for place, _ in rows)
    return Reply("\n".join([entry.name, *(f"  {place:<{width}}   {text}".rstrip() for place, text in reversed(rows))]))


@verb("inside [OP] [n]", group="looking", completes="op")
def inside(book: Notebook, rest: str) -> Reply:
    """What a branch or a loop did, iteration by iteration; the operators of iteration n with their values."""
    words = rest.split()
    number = int(words.pop()) if words and words[-1].isdigit() else None
    entry = _asked(book, " ".join(words))
    if not entry.region:
        raise VerbError(f"{entry.name} holds no block.", hint="inside OP looks into branches and loops")
    runs = regions.runs(book.session.branch, entry)
    if number is None and len(runs) != 1:
        return Reply("\n".join(_summary(entry, runs)))
    run = runs[0] if number is None else next((r for r in runs if r.number == number), None)
    if run is None:
        raise VerbError(f"{entry.name} had no iteration {number}: {_ran(runs)}.")
    return Reply("\n".join([run.told(entry.name), *_steps(run, "  ")]))


_SHOWN = 20
"""So many iterations are listed; those where numbers go wrong always are."""


def _ran(runs: Sequence[BlockRun]) -> str:
    if not runs:
        return "its block did not run"
    if runs[0].number is None:
        return "its block ran once"
    numbers = [r.number for r in runs if r.number is not None]
    return f"its block ran {len(runs)} time{'s' * (len(runs) != 1)}, iterations {numbers[0]} to {numbers[-1]}"


def _summary(entry: Entry, runs: Sequence[BlockRun]) -> Iterator[str]:
    yield f"{entry.name}: {_ran(runs)}"
    left_out = 0
    for n, run in enumerate(runs, 1):
        born = list(regions.births([run], entry.name))
        if n > _SHOWN and n < len(runs) and not born:
            left_out += 1
            continue
        outputs = [(name, words) for inner in run.steps for name, words in inner.outputs]
        last = next((m for m in reversed(outputs) if "‖" in m[1]), outputs[-1] if outputs else None)
        text = f"{last[0]} {last[1]}" if last is not None else "nothing made"
        wrong = "".join(f" · ✗ {b.born} born in {b.name} {source.short(b.loc)}".rstrip() for b, _ in born[:3])
        count = len(run.steps)
        yield f"  iteration {run.number}: {count} operator{'s' * (count != 1)} · {text}{wrong}"
    if left_out:
        yield f"  {left_out} more, in which nothing went wrong that was not wrong before"


def _steps(run: BlockRun, indent: str) -> Iterator[str]:
    stack = [(iter(run.steps), indent)]
    while stack:
        steps, indent = stack[-1]
        inner = next(steps, None)
        if inner is None:
            stack.pop()
            continue
        where = source.short(inner.loc)
        outputs = " · ".join(f"{name} {words}" for name, words in inner.outputs)
        born = f" · ✗ {inner.born} born here" if inner.born and not inner.runs else ""
        yield f"{indent}{inner.name}  {where}  {outputs}{born}".rstrip()
        if inner.runs:
            yield f"{indent}  {_ran(inner.runs)}" + ("; the last one:" if len(inner.runs) > 1 else ":")
            stack.append((iter(inner.runs[-1].steps), indent + "    "))


@verb("legend", group="looking")
def legend(book: Notebook, rest: str) -> Reply:
    """What the letters beside operators mean."""
    nothing(rest, "legend")
    return Reply("\n".join(f"  {letter}  {meaning}" for letter, meaning in show.STATES.items()))
