"""Verbs that show operators: those around, their source, the user's stack, what is inside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradtool.engine.core import source
from gradtool.engine.ir.operator import Operator
from gradtool.engine.runs.rounds import Round
from gradtool.engine.runs.timeline import Entry

from .. import regions, show
from ..errors import VerbError
from ..notebook import Notebook
from ..regions import Inner
from . import Reply, refuse_words, verb


@verb("list [n]", "l", group="looking", examples=("list", "list 20"), then="goto src stack")
def list_(book: Notebook, rest: str) -> Reply:
    """The operators around the cursor, n before and after it.

    Each with its letter (legend says what they mean), its number in the run, what it makes, and the other one of its
    pair of forward and gradient operator.
    """
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
        rows.append(show.show_cursor(session))
    return Reply("\n".join(rows))


def _row(book: Notebook, e: Entry, letters: str, digits: int) -> str:
    values = book.session.timeline.values
    outputs = ", ".join(values[n].name for _, n in e.outs if n >= 0 and values[n].name)
    pair = show.partner_name(book.session, e)
    return (
        f"{letters} %{e.index + 1:<{digits}}  {e.name}"
        + (f" → {outputs}" if outputs else "")
        + (f"  ↔ {pair}" if pair else "")
    )


def _entry_of(book: Notebook, rest: str) -> Entry:
    """The operator that is asked about: by default the next one, at the end the last one."""
    session = book.session
    if rest:
        return session.entry(rest)
    if not session.timeline.entries:
        raise VerbError("the run has no operators.")
    return session.current or session.timeline.entries[-1]


@verb(
    "src [OP] [n]",
    group="looking",
    examples=("src", "src relu_grad.0", "src relu_grad.0 3"),
    then="stack list",
    completes="op",
)
def src(book: Notebook, rest: str) -> Reply:
    """The forward source of an operator with its pair, n lines before and after it."""
    words = rest.split()
    around = int(words.pop()) if words and words[-1].isdigit() else 5
    entry = _entry_of(book, " ".join(words))
    lines = show.excerpt(entry, around, show.partner_name(book.session, entry))
    if not lines:
        return Reply(f"{entry.name}: it is not known where it was made")
    pair = show.partner_name(book.session, entry)
    head = f"{entry.name}   {source.short(entry.loc)} in {entry.loc[0][0].co_name}"
    return Reply("\n".join([head + (f"   {entry.part}, its pair is {pair}" if pair else f"   {entry.part}"), *lines]))


@verb("stack [OP]", "bt", "where", group="looking", examples=("stack", "stack relu.0"), then="src goto", completes="op")
def stack(book: Notebook, rest: str) -> Reply:
    """The user's stack when an operator was made, the innermost call last."""
    entry = _entry_of(book, rest)
    if not entry.loc:
        return Reply(f"{entry.name}: it is not known where it was made")
    rows = [
        (f"{file}:{line} in {function}", source.text(code, line))
        for (file, line, function), (code, _) in zip(source.frames(entry.loc), entry.loc, strict=True)
    ]
    width = max(len(place) for place, _ in rows)
    head = f"{entry.name}   in {entry.layer}" if entry.layer else entry.name
    return Reply("\n".join([head, *(f"  {place:<{width}}   {text}".rstrip() for place, text in reversed(rows))]))


@verb(
    "inside [OP] [n]",
    group="looking",
    examples=("inside while.0", "inside while.0 2"),
    then="list goto",
    completes="op",
)
def inside(book: Notebook, rest: str) -> Reply:
    """Show the iterations of a branch or a loop; the operators of iteration n with their values."""
    words = rest.split()
    number = int(words.pop()) if words and words[-1].isdigit() else None
    entry = _entry_of(book, " ".join(words))
    if not entry.region:
        raise VerbError(f"{entry.name} holds no block.", hint="inside OP looks into branches and loops")
    rounds = regions.rounds(book.session.branch, entry)
    if number is None and len(rounds) != 1:
        return Reply("\n".join(_summary(entry, rounds)))
    loops = regions.iterates(entry.origin)
    chosen = rounds[0] if number is None else next((r for r in rounds if loops and r.number + 1 == number), None)
    if chosen is None:
        raise VerbError(f"{entry.name} had no iteration {number}: {_ran(entry.origin, rounds)}.")
    return Reply("\n".join([regions.describe_round(chosen, entry.origin, entry.name), *_steps(chosen, "  ")]))


_SHOWN = 20
"""So many iterations are listed; those where numbers go wrong always are."""


def _ran(op: Operator, rounds: Sequence[Round[Inner]]) -> str:
    if not rounds:
        return "its block did not run"
    if not regions.iterates(op):
        return "its block ran once"
    first, last, count = rounds[0].number + 1, rounds[-1].number + 1, len(rounds)
    return f"its block ran {count} time{'s' * (count != 1)}, iterations {first} to {last}"


def _summary(entry: Entry, rounds: Sequence[Round[Inner]]) -> Iterator[str]:
    yield f"{entry.name}: {_ran(entry.origin, rounds)}"
    left_out = 0
    for n, block in enumerate(rounds, 1):
        born = list(regions.births([block], entry.origin, entry.name))
        if n > _SHOWN and n < len(rounds) and not born:
            left_out += 1
            continue
        outputs = [output for inner in block.steps for output in inner.outputs]
        last = next((m for m in reversed(outputs) if "‖" in m[1]), outputs[-1] if outputs else None)
        text = f"{last[0]} {last[1]}" if last is not None else "nothing made"
        wrong = "".join(f" · ✗ {b.born} born in {b.name} {source.short(b.op.loc)}".rstrip() for b, _ in born[:3])
        count = len(block.steps)
        yield f"  iteration {block.number + 1}: {count} operator{'s' * (count != 1)} · {text}{wrong}"
    if left_out:
        yield f"  {left_out} more, in which nothing went wrong that was not wrong before"


def _steps(block: Round[Inner], indent: str) -> Iterator[str]:
    stack = [(iter(block.steps), indent)]
    while stack:
        steps, indent = stack[-1]
        inner = next(steps, None)
        if inner is None:
            stack.pop()
            continue
        where = source.short(inner.op.loc)
        outputs = " · ".join(f"{name} {words}" for name, words in inner.outputs)
        born = f" · ✗ {inner.born} born here" if inner.born and not inner.rounds else ""
        yield f"{indent}{inner.name}  {where}  {outputs}{born}".rstrip()
        if inner.rounds:
            yield f"{indent}  {_ran(inner.op, inner.rounds)}" + ("; the last one:" if len(inner.rounds) > 1 else ":")
            stack.append((iter(inner.rounds[-1].steps), indent + "    "))


@verb("legend", group="looking", examples=("legend",), then="list")
def legend(book: Notebook, rest: str) -> Reply:
    """Explain the letters next to operators."""
    refuse_words(rest, "legend")
    return Reply("\n".join(f"  {letter}  {meaning}" for letter, meaning in show.STATES.items()))
