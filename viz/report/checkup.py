"""Everything cheap about one model on one screen: what is wrong first, then the gradients, then what was looked at."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence

from gradtool.engine.answers.over_time.sentences import sentence
from gradtool.engine.answers.over_time.step_events import PASSING
from gradtool.engine.answers.stats import Line
from gradtool.engine.answers.why.folding import fold_names
from gradtool.engine.core import source
from gradtool.engine.core.wording import NOTHING, command_line, count, drop_lines, number, shape
from gradtool.engine.gate.failures import UNLOADED
from gradtool.engine.gate.finding import Finding, Severity
from gradtool.engine.gate.report import UNCHECKED
from gradtool.engine.kinds import origins
from gradtool.engine.kinds.gradients import GradientRow, GradientTable
from gradtool.engine.kinds.watched_extent import WatchedPart
from gradtool.engine.questions.nan import Births
from gradtool.engine.questions.over_time import Training
from gradtool.engine.questions.stats import Sizes
from gradtool.engine.request.request import Request

from ...engine.core.identity import identity
from ..views import backward, nan, other_losses
from ..views.view import Table, View
from .findings import Findings

MOST_PROBLEMS = 6
"""Findings that are told; a screen holds no more. All of them are counted."""

MOST_ROWS = 12
"""Rows of the table; of more parameters those with a finding stand first, and the rest is counted."""

FEW_ROWS = 6
"""Rows where nothing is wrong."""


def view(told: Findings, request: Request) -> View:
    """Return the screen: findings of the rules, the table, and what was looked at."""
    words = request.words()
    found = _order_findings(told)
    looked, left_out = _scope_lines(told, words), [*dict.fromkeys(_not_looked_at(told, words))]
    table = told.answers.get("backward")
    blocks: list[str | Table] = [
        _headline(told, found),
        *_error_lines(told, found),
        "",
        *_lines_of_findings(found, words),
    ]
    if isinstance(table, GradientTable):
        blocks += [
            _table(table, told, MOST_ROWS if found else FEW_ROWS),
            "\n".join([backward.count_arrived(table), *drop_lines(table.about.dropped)]),
            "",
        ]
    blocks += [*_column("in passing", [*_problems_over(told)]), *_column("looked at", looked)]
    blocks += _column("not looked at", left_out)
    blocks += _column("compiled", told.compiled)
    root = "" if told.report is None else told.report.root
    data = {
        "model": told.name,
        "mode": told.mode,
        "loss": {"name": told.loss, "value": told.value},
        "findings": sum(f.severity.reaches(Severity.WARNING) for f in found),
        "results": [{**f.data(root), "next": _next_of(f, words)} for f in found],
        "suppressed": [] if told.report is None else [s.data(root) for s in told.report.suppressed],
        "clean": None if told.report is None else told.report.clean,
        "scope": told.scope.data(),
        "counts": {s.value: sum(f.severity is s for f in found) for s in Severity},
        "looked_at": looked,
        "not_looked_at": left_out,
        "answers": {k: {"schema": f"gradtool/{v.kind}/1", **v.data} for k, v in sorted(told.reports.items())},
        "raised": told.raised or None,
        "notes": [*told.notes, *told.compiled],
    }
    tone = "bad" if data["findings"] else "warn" if told.scope.ended else "good"
    marks = {_count_findings(found, told.scope): tone}
    return View("checkup", data, blocks, _next(found, words), marks=marks, tells_its_end=True)


def _order_findings(told: Findings) -> list[Finding]:
    """Return the findings of the rules, the worst and those that others come from first."""
    results = [] if told.report is None else told.report.results
    shown = [f for f in results if f.code != UNCHECKED and not (told.raised and f.code == UNLOADED)]
    severities = list(Severity)
    return sorted(shown, key=lambda f: (severities.index(f.severity), _rank(f.code), f.order))


def _rank(code: str) -> int:
    return next((i for i, beginning in enumerate(FIRST) if code.startswith(beginning)), len(FIRST))


FIRST = ("GT108", "GT201", "GT202", "GT10")
"""Beginnings of the codes of what others come from: a pass that fails, numbers that are not finite, cuts."""

NEXT = {
    "GT108": ("why",),
    "GT10": ("why", "{}"),
    "GT110": ("why", "{}"),
    "GT205": ("why", "{}"),
    "GT206": ("why", "{}"),
    "GT20": ("nan",),
    "GT3": ("gradcheck",),
}
"""By the beginning of a code: the command that shows more; ``{}`` stands for the parameter."""


def _next_of(finding: Finding, words: Sequence[str]) -> str:
    """Return the command line that shows more about a finding."""
    name, *rest = next((NEXT[b] for b in sorted(NEXT, key=len, reverse=True) if finding.code.startswith(b)), ("",))
    if not name or (rest and not finding.subject):
        return command_line("gradtool", "explain", finding.code)
    return command_line("gradtool", name, *(finding.subject for _ in rest), *words)


def _count_findings(found: Sequence[Finding], scope: WatchedPart) -> str:
    """``2 errors, 1 warning``, or ``no findings in all 120 passes``."""
    counts = [(sum(f.severity is s for f in found), s.value) for s in Severity]
    counted = ", ".join(count(n, word) for n, word in counts if n)
    if not counted:
        return f"no findings {scope.words}"
    return f"{counted} {scope.words}" if scope.ended else counted


def _column(title: str, texts: Sequence[str]) -> Iterator[str]:
    """Texts one below the other, the first beside *title*."""
    for i, text in enumerate(texts):
        yield f"{'' if i else title:<15}{text}"


def _headline(told: Findings, found: Sequence[Finding]) -> str:
    value = "" if told.value is None else f" = {number(told.value)}"
    loss = f" · loss {told.loss}{value}" if told.loss else ""
    table = told.answers.get("backward")
    started = origins.title(table.origins) if isinstance(table, GradientTable) else ""
    loss += f" · {started}" if started else ""
    findings = _count_findings(found, told.scope)
    if told.raised:
        return f"{told.name} · {told.mode} · raised {told.raised.removeprefix(f'{told.name} raised ')}"
    lost = f" · {count(told.failed_rules, 'rule')} failed" if told.failed_rules else ""
    return f"{told.name} · {told.mode}{loss} · {findings}{lost}"


def _error_lines(told: Findings, found: Sequence[Finding]) -> Iterator[str]:
    """The line that raised; and that all below is about what ran before it."""
    if told.raised:
        yield from (f"   {line}" if i == 0 else f"     {line}" for i, line in enumerate(told.raised_at))
        findings = _count_findings(found, told.scope)
        value = "" if told.value is None else f" = {number(told.value)}"
        loss = f", the loss {told.loss}{value}" if told.loss else ""
        yield f"   below is what ran{loss}: {findings}"


def _lines_of_findings(found: Sequence[Finding], words: Sequence[str]) -> Iterator[str]:
    """Each finding with its command; those that a screen does not hold are counted."""
    for i, finding in enumerate(found[:MOST_PROBLEMS], 1):
        yield "\n".join([f"{i}  {_head(finding)}", *(f"   {line}" for line in _detail_lines(finding, words)), ""])
    left = Counter(finding.severity for finding in found[MOST_PROBLEMS:])
    if left:
        counts = ", ".join(count(left[s], f"more {s.value}") for s in Severity if left[s])
        yield f"   and {counts}: {command_line('gradtool', 'check', *words)}\n"


def _head(finding: Finding) -> str:
    return f"{finding.severity.value} {finding.code}  {finding.message}"


def _detail_lines(finding: Finding, words: Sequence[str]) -> Iterator[str]:
    """The line of the cause, what explains it, who shares it, what to do, and the command that shows more."""
    if finding.spot is not None:
        place = f"{os.path.basename(finding.spot.file)}:{finding.spot.line}"
        yield f"{place}    {finding.spot.text}".rstrip()
    yield from finding.explanation
    if finding.sharers:
        yield f"the same holds for {len(finding.sharers):,} more: {fold_names(finding.sharers)}"
    if finding.advice:
        yield f"try  {finding.advice}"
    yield f"more  {_next_of(finding, words)}"


def _problems_over(told: Findings) -> Iterator[str]:
    """Return what was wrong in some steps and went away by itself."""
    training = told.answers.get("over-time")
    if isinstance(training, Training):
        everyone, steps = [t.name for t in training.parameters], len(training.history.steps)
        yield from (f"step {h.step}: {sentence(h, everyone, steps)}" for h in training.happenings if h.kind == PASSING)


# -- the table --------------------------------------------------------------------------------------------------------


def _table(table: GradientTable, told: Findings, most: int) -> Table:
    """Parameters with their gradients: those with a finding first where there are too many for a screen."""
    rows, wrong = table.rows_to_count, table.wrong
    sizes = _sizes(told)
    shown = rows
    if len(rows) > most:
        first = {identity(row) for row in sorted(rows, key=lambda row: row.shown not in wrong)[:most]}
        shown = [row for row in rows if identity(row) in first]
    name = backward.row_name(table)
    more = [(heading, cells) for heading, cells in backward.origin_columns(table) if heading]
    added = [heading for headings, _ in more for heading in headings]
    headings = [name, "shape", "‖g‖", "‖g‖/‖w‖", *added, "status", "source"]
    drawn = Table(headings, order=["‖g‖/‖w‖", *backward.order(name)], judged="status")
    for row in shown:
        size = sizes.get(row.shown)
        place = row.source or NOTHING
        beside = [cell for _, cells in more for cell in cells(row)]
        ratio = None if size is None else size.ratio
        drawn.rows.append(
            [row.shown, shape(row.shape), number(_norm(row, size)), number(ratio), *beside, table.status(row), place]
        )
    drawn.tones = backward.tones(shown, wrong, table.status)
    if len(rows) > len(shown):
        left = Counter(map(table.status, rows)) - Counter(map(table.status, shown))
        rest = ", ".join(f"{n} {status}" for status, n in left.most_common(3))
        drawn.rows.append([f"… {len(rows) - len(shown)} more", "", "", "", *("" for _ in added), rest, ""])
    return drawn


def _norm(row: GradientRow, size: Line | None) -> float | None:
    """Return the norm of a gradient; of a program that the file runs itself, the one measured in that run."""
    if row.values is not None:
        return row.values.norm
    return None if size is None or size.gradient is None else size.size


def _sizes(told: Findings) -> dict[str, Line]:
    """Return the sizes of gradients that were measured while the file ran, by parameter."""
    sizes = told.answers.get("stats")
    return {x.name: x for x in sizes.story.parameters} if isinstance(sizes, Sizes) else {}


# -- what was looked at -----------------------------------------------------------------------------------------------


def _scope_lines(told: Findings, words: Sequence[str]) -> list[str]:
    """Return what the screen is about: which pass, how many parameters, how many tensors."""
    looked = [_pass(told)]
    table, births = told.answers.get("backward"), told.answers.get("nan")
    if isinstance(table, GradientTable):
        looked.append(f"every gradient of {backward.count_expected(table)}: missing, zero, sizes")
    if isinstance(births, Births):
        story = births.story
        checked = ", ".join(f"{n} {part}" for part, n in story.checked.items() if n)
        looked.append(f"NaN and infinity in {checked} tensors of {nan.search_note(story, births.number)}")
    return [*looked, *other_losses.other_passes(told.others, words)]


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
        return f"backward passes {numbers} of {made.extent}, of one step: {lines}"
    runs = f", run {asked.runs} times" if asked.runs else ""
    cut = "" if made.stopped is None else f"; the file was stopped at {source.short(made.stopped)}"
    return f"backward pass {made.asked} of {made.extent}: {where}{runs}{cut}"


def _not_looked_at(told: Findings, words: Sequence[str]) -> Iterator[str]:
    births, made = told.answers.get("nan"), told.calls
    for kind, why in told.refused.items():
        if why:
            yield f"{kind}: {why.splitlines()[0]}"
    yield from (*told.exclusions, *told.unchecked)
    if isinstance(births, Births):
        yield from births.story.unchecked
        if births.number is None and births.story.births and made is not None and births.story.steps < made.total:
            yield f"NaN and infinity after backward pass {births.story.steps}, where the first was born"
    yield from told.stop
    # Where the rules could not look at one, they say so.
    yield from other_losses.not_looked_at([other for other in told.others if other.refused is None], "why", words)
    if told.raised:
        yield "what would have come after the error"
    yield f"whether the gradients are right: {command_line('gradtool', 'gradcheck', *words)}"


def _next(found: Sequence[Finding], words: Sequence[str]) -> list[str]:
    first = [_next_of(finding, words) for finding in found[:1]]
    rest = [command_line("gradtool", "graph", *words, "-o", "graph.html")]
    if not found:
        rest.insert(0, command_line("gradtool", "gradcheck", *words))
    return [*first, *rest]
