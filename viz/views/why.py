"""View of verdicts on gradients."""

from __future__ import annotations

from collections.abc import Sequence

from gradtool.engine.answers.why.answers import GRAD_NONE, GRAD_ZERO, Answer
from gradtool.engine.answers.why.folding import fold_names
from gradtool.engine.answers.why.verdicts import Verdict
from gradtool.engine.core.wording import command_line, count, drop_lines
from gradtool.engine.questions.why import Verdicts

from .view import Table, View, other_losses


def view(answers: Verdicts) -> View:
    """Why each tensor has no gradient, or a zero one."""
    wrong = answers.findings
    others, others_data = other_losses(answers.about, "why")
    data = {
        "model": answers.about.file,
        "mode": answers.about.mode,
        "loss": answers.loss,
        "answers": [a.data() for a in answers],
        "findings": wrong,
        "asked": answers.subjects,
        "dropped": list(answers.about.dropped),
        "others": others_data,
    }
    table = Table(["tensor", "verdict", "finding", "source", "code", "why", "the same for"])
    for a in answers:
        said = "; ".join(a.said)
        table.rows.append([a.name, a.label, "yes" if a.finding else "no", a.source, a.code, said, ", ".join(a.also)])
    return View(
        "why",
        data,
        ["\n".join(_lines(answers, wrong, others))],
        _next(answers),
        table,
        _marks(answers, wrong),
        records="answers",
    )


def _marks(answers: Verdicts, wrong: int) -> dict[str, str]:
    """Verdicts in the colours of what they mean."""
    marks = {
        f"verdict: {a.verdict_shown}": "bad" if a.finding else "warn" for a in answers if a.verdict is not Verdict.OK
    }
    return marks | {
        count(wrong, "finding"): "bad",
        "no findings": "warn" if answers.about.scope.ended else "good",
        "no finding": "warn",
    }


def _lines(answers: Verdicts, wrong: int, others: Sequence[str]) -> list[str]:
    """Each answer, and how many there are."""
    lines = answer_lines(answers, answers.chosen)
    if answers.failure is not None or answers.chosen:
        return lines[:-1]
    return [*lines, summary(answers, wrong), *others, *drop_lines(answers.about.dropped)]


def answer_lines(answers: Sequence[Answer], chosen: bool) -> list[str]:
    """Each answer with an empty line after it; parameters that are frozen together, unless *chosen* by name."""
    frozen = [] if chosen else [a for a in answers if a.verdict.is_intended and not a.finding]
    singly = [a for a in answers if chosen or not a.verdict.is_intended or a.finding]
    lines: list[str] = []
    for a in singly[:_WHOLE]:
        lines += [*a.lines(), ""]
    if len(singly) > _WHOLE:
        lines += [*_fold_lines(singly[_WHOLE:]), ""]
    if frozen:
        lines += [_lines_of_frozen(frozen), ""]
    return lines


_WHOLE = 12
"""Answers that are told in full; ``--format json`` has all of them."""


def _fold_lines(answers: Sequence[Answer]) -> list[str]:
    """A line for each kind of the answers that are not told in full."""
    names: dict[str, list[str]] = {}
    for a in answers:
        names.setdefault(a.label if a.finding else f"{a.label} · no finding", []).extend([a.name, *a.also])
    more = f"and {count(len(answers), 'more answer')} (all of them: --format json)"
    return [more, *(f"  {label}: {fold_names(of)}" for label, of in names.items())]


def _lines_of_frozen(answers: Sequence[Answer]) -> str:
    """Nothing is wrong with these: they share a few lines."""
    lines = []
    for a in answers:
        lines.append(f"{a.label} · no finding: {fold_names([a.name, *a.also])}")
        lines += [f"  {a.source}    {a.code}".rstrip()] if a.source else []
        lines += [f"  {s}" for s in a.said] if a.beside else []
    return "\n".join(lines)


def summary(answers: Verdicts, wrong: int) -> str:
    """Return how many parameters get a gradient, and what is wrong with how many of these."""
    subjects = answers.subjects
    if not subjects:
        return "no parameters"

    def count_state(state: str) -> int:
        return sum(1 + len(a.also) for a in answers if a.state == state)

    zero = count_state(GRAD_ZERO)
    wild = sum(1 + len(a.also) for a in answers if a.verdict is Verdict.NOT_FINITE)
    told = [f"{n} of them {word}" for n, word in ((zero, "zero"), (wild, "not finite")) if n]
    findings = count(wrong, "finding") if wrong else answers.about.scope.qualify_last("no findings")
    findings += f" about {answers.loss}" if answers.about.others else ""
    gets = "gets" if subjects == 1 else "get"
    with_one = f"{subjects - count_state(GRAD_NONE)} of {count(subjects, 'parameter')} {gets} a gradient"
    return " · ".join([with_one, *told, findings])


def _next(answers: Verdicts) -> list[str]:
    words = answers.about.words
    first = _subject(answers)
    if first is None or answers.failure is not None:
        return [command_line("gradtool", "backward", *words)]
    told = []
    if first.verdict is Verdict.NOT_FINITE:
        return [command_line("gradtool", "nan", *words), command_line("gradtool", "backward", *words)]
    if first.operator:
        told.append(command_line("gradtool", "graph", "--where", f"line:{first.operator}", *words))
    if answers.chosen:
        return [*told, command_line("gradtool", "backward", *words)]
    return [command_line("gradtool", "why", first.name, *words), *told]


def _subject(answers: Verdicts) -> Answer | None:
    """The answer to go on from: the first finding, else what was asked about."""
    finding = next((a for a in answers if a.finding), None)
    return next(iter(answers), None) if finding is None and answers.chosen else finding
