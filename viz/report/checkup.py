"""Everything cheap about one model on one screen: what is wrong first, then the gradients, then what was looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gradtool.engine.answers.numbers import NOT_FINITE
from gradtool.engine.answers.over_time.happenings import NOT_FINITE as HAPPENED_NOT_FINITE
from gradtool.engine.answers.over_time.happenings import PASSING
from gradtool.engine.answers.stats import Line
from gradtool.engine.answers.why.answers import Answer
from gradtool.engine.core import source
from gradtool.engine.core.wording import NOTHING, command_line, count, dropped, number, shape
from gradtool.engine.kinds import origins
from gradtool.engine.kinds.gradients import GradientTable
from gradtool.engine.questions.nan import Births
from gradtool.engine.questions.over_time import Training
from gradtool.engine.questions.stats import ALWAYS_WRONG, Sizes
from gradtool.engine.request.request import Request

from ..views import backward, nan, others
from ..views.over_time import sentence
from ..views.view import Table, View
from .findings import Findings

MOST_PROBLEMS = 6
"""Findings that are told; a screen holds no more. All of them are counted."""

MOST_ROWS = 12
"""Rows of the table; of more parameters those with a finding stand first, and the rest is counted."""

FEW_ROWS = 6
"""Rows where nothing is wrong."""

_MOST_NAMES = 4


@dataclass(frozen=True, slots=True)
class Problem:
    """A finding, in the words of the command that digs deeper.

    Attributes:
        kind: that command: ``nan``, ``why``, ``stats`` or ``check``.
        lines: what is wrong, and below it where and why.
        names: the parameters that it is about, as far as they are known.
        next: the command line that digs deeper.
    """

    kind: str
    lines: Sequence[str]
    names: Sequence[str]
    source: str
    next: str


def view(told: Findings, request: Request) -> View:
    """The screen."""
    words = request.words()
    problems = [*_births(told, words), *_verdicts(told, words), *_sizes(told, words), *_over_time(told, words)]
    problems += _growing(told, words)
    looked, left_out = _looked_at(told, words), [*_not_looked_at(told, words)]
    table = told.answers.get("backward")
    blocks: list[str | Table] = [
        _headline(told, problems),
        *_raised(told, problems),
        "",
        *_told(problems, words),
        *_warnings(told, words),
    ]
    if isinstance(table, GradientTable):
        blocks += [
            _table(table, told, MOST_ROWS if problems else FEW_ROWS),
            "\n".join([backward.arrived(table), *dropped(table.about.dropped)]),
            "",
        ]
    blocks += [*_column("in passing", [*_passing(told)]), *_column("looked at", looked)]
    blocks += _column("not looked at", left_out)
    blocks += _column("compiled", told.compiled)
    data = {
        "model": told.name,
        "mode": told.mode,
        "loss": {"name": told.loss, "value": told.value},
        "findings": len(problems),
        "problems": [_data(p) for p in problems],
        "warnings": [
            {"text": f.message, "source": source.short(f.loc).whole, "advice": f.advice} for f in told.hazards
        ],
        "looked_at": looked,
        "not_looked_at": left_out,
        "answers": {k: {"schema": f"gradtool/{v.kind}/1", **v.data} for k, v in sorted(told.reports.items())},
        "raised": told.raised or None,
        "notes": [*told.notes, *told.compiled],
    }
    marks = {count(len(problems), "finding"): "bad"} if problems else {"no findings": "good"}
    return View("checkup", data, blocks, _next(problems, words), marks=marks, tells_its_end=True)


def _column(title: str, texts: Sequence[str]) -> Iterator[str]:
    """Texts one below the other, the first beside *title*."""
    for i, text in enumerate(texts):
        yield f"{'' if i else title:<15}{text}"


def _headline(told: Findings, problems: Sequence[Problem]) -> str:
    value = "" if told.value is None else f" = {number(told.value)}"
    loss = f" · loss {told.loss}{value}" if told.loss else ""
    table = told.answers.get("backward")
    started = origins.heading(table.origins) if isinstance(table, GradientTable) else ""
    loss += f" · {started}" if started else ""
    findings = count(len(problems), "finding") if problems else "no findings"
    if told.raised:
        return f"{told.name} · {told.mode} · raised {told.raised.removeprefix(f'{told.name} raised ')}"
    return f"{told.name} · {told.mode}{loss} · {findings}"


def _raised(told: Findings, problems: Sequence[Problem]) -> Iterator[str]:
    """The line that raised; and that all below is about what ran before it."""
    if told.raised:
        yield from (f"   {line}" if i == 0 else f"     {line}" for i, line in enumerate(told.raised_at))
        findings = count(len(problems), "finding") if problems else "no findings"
        value = "" if told.value is None else f" = {number(told.value)}"
        loss = f", the loss {told.loss}{value}" if told.loss else ""
        yield f"   below is what ran before it{loss}: {findings}"


def _told(problems: Sequence[Problem], words: Sequence[str]) -> Iterator[str]:
    """Each finding with its command; those that a screen does not hold are counted."""
    for i, problem in enumerate(problems[:MOST_PROBLEMS], 1):
        first, *rest = problem.lines
        yield "\n".join([f"{i}  {first}", *(f"   {line}" for line in rest), f"   more  {problem.next}", ""])
    left = Counter(problem.kind for problem in problems[MOST_PROBLEMS:])
    for kind, n in left.items():
        yield f"   and {n} more: {command_line('gradtool', kind, *words)}\n"


def _warnings(told: Findings, words: Sequence[str]) -> Iterator[str]:
    """Operators that can become NaN later: what is right now and need not stay so is no finding."""
    shown = told.hazards[:MOST_PROBLEMS]
    for fact in shown:
        line = source.text(*fact.loc[0]) if fact.loc else ""
        lines = [
            f"warning  {fact.message}",
            f"   {source.short(fact.loc)}    {line}".rstrip(),
            f"   try  {fact.advice}",
        ]
        yield "\n".join([*lines, ""])
    if shown:
        more = command_line("gradtool", "check", *words, "--select", SINGULAR)
        left = len(told.hazards) - len(shown)
        yield f"   {f'and {left} more, ' if left else ''}with values: {more}\n"


SINGULAR = "GT209"
"""The rule that finds what warnings are about."""

GROWING = "GT713"
"""The rule that finds graphs of earlier steps."""

# -- findings ---------------------------------------------------------------------------------------------------------


def _births(told: Findings, words: Sequence[str]) -> Iterator[Problem]:
    """Where NaN and infinity were born: the first with all that is known, since others often come of it."""
    births = told.answers.get("nan")
    if not isinstance(births, Births):
        return
    story, names = births.story, births.names
    for i, birth in enumerate(story.births):
        lines = [line.strip() for line in nan.birth_lines(story, names)] if i == 0 else [nan.one_line(birth, names)]
        victims = [names.shown(v).removesuffix("@GRAD") for v in story.victims] if i == 0 else []
        yield Problem("nan", lines, victims, source.short(birth.loc), command_line("gradtool", "nan", *words))


def _verdicts(told: Findings, words: Sequence[str]) -> Iterator[Problem]:
    """What ``why`` finds; what is not finite because of a birth is told there."""
    born = isinstance(births := told.answers.get("nan"), Births) and bool(births.story.births)
    for answer in told.verdicts:
        if not answer.finding or (born and _is_bad(answer)):
            continue
        lines = [line.strip() for line in answer.lines()]
        if answer.path:
            del lines[1]  # a screen has no room for the way; the next command shows it
        named = (answer.name, *answer.also)
        about = [] if told.failed else [answer.name]
        yield Problem("why", lines, named, answer.source, command_line("gradtool", "why", *about, *words))


def _is_bad(answer: Answer) -> bool:
    """Whether a gradient holds NaN or infinity."""
    return answer.gradient is not None and answer.gradient.state in NOT_FINITE


def _sizes(told: Findings, words: Sequence[str]) -> Iterator[Problem]:
    """Sizes that nobody wants and that nothing before explains."""
    sizes, births = told.answers.get("stats"), told.answers.get("nan")
    if not isinstance(sizes, Sizes):
        return
    born = isinstance(births, Births) and bool(births.story.births)
    explained = {name for a in told.verdicts for name in (a.name, *a.also)}
    for kind in ALWAYS_WRONG:
        lines = [x for x in sizes.story.parameters if x.verdict == kind and x.name not in explained]
        if not lines or (born and kind in NOT_FINITE):
            continue
        names = [x.name for x in lines]
        said = [f"{_named(names)}   verdict: {kind.upper()}", _range(lines)]
        yield Problem(
            "stats", said, names, source.short(lines[0].loc), command_line("gradtool", "stats", *words, "--worst", "10")
        )


def _over_time(told: Findings, words: Sequence[str]) -> Iterator[Problem]:
    """What began at a step of the training with parameters that nothing before is about."""
    training, births = told.answers.get("over-time"), told.answers.get("nan")
    if not isinstance(training, Training):
        return
    born = isinstance(births, Births) and bool(births.story.births)
    explained = {name for a in told.verdicts for name in (a.name, *a.also)}
    for h in training.happenings:
        names = [row.name for row in training.rows if any(track in h.tracks for track in row.members)]
        if not h.wrong or (born and h.kind == HAPPENED_NOT_FINITE) or explained.intersection(names):
            continue
        said = f"step {h.step}   {sentence(h, training)}"
        yield Problem(
            "stats", [said], names, source.short(h.loc), command_line("gradtool", "stats", "--steps", "50", *words)
        )


def _growing(told: Findings, words: Sequence[str]) -> Iterator[Problem]:
    """What keeps the graphs of earlier steps, so that memory grows."""
    more = command_line("gradtool", "check", *words, "--select", GROWING)
    for found in told.growing:
        place = source.short(found.loc)
        line = source.text(*found.loc[0]) if found.loc else ""
        said = [found.message, f"{place}    {line}".rstrip(), found.amount, f"try  {found.advice}"]
        yield Problem("check", said, [], place, more)


def _passing(told: Findings) -> Iterator[str]:
    """Return what was wrong in some steps and went away by itself."""
    training = told.answers.get("over-time")
    if isinstance(training, Training):
        yield from (f"step {h.step}: {sentence(h, training)}" for h in training.happenings if h.kind == PASSING)


def _range(lines: Iterable[Line]) -> str:
    """``‖g‖ from 1.2e+05 to 3.4e+05``."""
    norms = sorted(x.gradient.norm for x in lines if x.gradient is not None)
    ends = list(dict.fromkeys(map(number, (norms[0], norms[-1])))) if norms else [NOTHING]
    return f"‖g‖ {' to '.join(ends)}"


def _named(names: Sequence[str]) -> str:
    """The first of the names, and how many there are beside them."""
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


# -- the table --------------------------------------------------------------------------------------------------------


def _table(table: GradientTable, told: Findings, most: int) -> Table:
    """Parameters with their gradients: those with a finding first where there are too many for a screen."""
    rows, wrong = table.counted, table.wrong
    ratios = _ratios(told)
    shown = rows
    if len(rows) > most:
        first = {id(row) for row in sorted(rows, key=lambda row: row.shown not in wrong)[:most]}
        shown = [row for row in rows if id(row) in first]
    name = backward.row_name(table)
    more = [(heading, cells) for heading, cells in backward.origin_columns(table) if heading]
    added = [heading for headings, _ in more for heading in headings]
    headings = [name, "shape", "‖g‖", "‖g‖/‖w‖", *added, "status", "source"]
    drawn = Table(headings, order=["‖g‖/‖w‖", *backward.order(name)], judged="status")
    for row in shown:
        norm = NOTHING if row.values is None else number(row.values.norm)
        place = row.source or NOTHING
        beside = [cell for _, cells in more for cell in cells(row)]
        ratio = number(ratios.get(row.shown))
        drawn.rows.append([row.shown, shape(row.shape), norm, ratio, *beside, table.status(row), place])
    drawn.tones = backward.tones(shown, wrong, table.status)
    if len(rows) > len(shown):
        left = Counter(map(table.status, rows)) - Counter(map(table.status, shown))
        rest = ", ".join(f"{n} {status}" for status, n in left.most_common(3))
        drawn.rows.append([f"… {len(rows) - len(shown)} more", "", "", "", *("" for _ in added), rest, ""])
    return drawn


def _ratios(told: Findings) -> dict[str, float | None]:
    """Norms of gradients in terms of those of their weights."""
    sizes = told.answers.get("stats")
    return {x.name: x.ratio for x in sizes.story.parameters} if isinstance(sizes, Sizes) else {}


# -- what was looked at -----------------------------------------------------------------------------------------------


def _looked_at(told: Findings, words: Sequence[str]) -> list[str]:
    """What the screen is about: which pass, how many parameters, how many tensors."""
    looked = [_pass(told)]
    table, births = told.answers.get("backward"), told.answers.get("nan")
    if isinstance(table, GradientTable):
        looked.append(f"every gradient of {backward.expected(table)}: missing, zero, sizes")
    if isinstance(births, Births):
        story = births.story
        checked = ", ".join(f"{n} {part}" for part, n in story.checked.items() if n)
        looked.append(f"NaN and infinity in {checked} tensors of {nan.searched(story, births.number)}")
    return [*looked, *others.looked_at(told.others, words)]


def _pass(told: Findings) -> str:
    """``backward pass 8 of 8: g_loss, gan.py:47``."""
    made = told.calls
    asked = None if made is None else next((x for x in made.lines if made.asked in x.numbers), None)
    if made is None or asked is None:
        return f"one backward pass of {told.loss}" if told.loss else "one backward pass"
    where = ", ".join(filter(None, (asked.loss, source.short(asked.location))))
    table = told.answers.get("backward")
    step = table.origins if isinstance(table, GradientTable) else ()
    if len(step) > 1:
        numbers = ", ".join(str(o.number) for o in step)
        lines = origins.lines(o.at for o in step)
        return f"backward passes {numbers} of {made.total}, of one step: {lines}"
    runs = f", run {asked.runs} times" if asked.runs else ""
    cut = "" if made.stopped is None else f"; the file was stopped at {source.short(made.stopped)}"
    return f"backward pass {made.asked} of {made.total}: {where}{runs}{cut}"


def _not_looked_at(told: Findings, words: Sequence[str]) -> Iterator[str]:
    births, made = told.answers.get("nan"), told.calls
    for kind, why in told.refused.items():
        if why:
            yield f"{kind}: {why.splitlines()[0]}"
    if isinstance(births, Births):
        yield from births.story.unchecked
        if births.number is None and births.story.births and made is not None and births.story.steps < made.total:
            yield f"NaN and infinity after backward pass {births.story.steps}, where the first was born"
    if made is not None and made.stopped is not None:
        yield f"what comes after {source.short(made.stopped)}, where the file was stopped: {made.more}"
    yield from others.not_looked_at(told.others, "why", words)
    if told.raised:
        yield "what would have come after the error"
    yield f"whether the gradients are right: {command_line('gradtool', 'gradcheck', *words)}"


def _next(problems: Sequence[Problem], words: Sequence[str]) -> list[str]:
    first = [problem.next for problem in problems[:1]]
    rest = [command_line("gradtool", "graph", *words, "-o", "graph.html")]
    if not problems:
        rest.insert(0, command_line("gradtool", "gradcheck", *words))
    return [*first, *rest]


def _data(problem: Problem) -> dict[str, Any]:
    return {
        "command": problem.kind,
        "text": list(problem.lines),
        "names": list(problem.names),
        "source": problem.source or None,
        "next": problem.next,
    }
