"""Definition of a rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from ..core.records import dataclass
from ..core.source import NOWHERE, Location, Place
from .finding import Finding, Severity, Spot

if TYPE_CHECKING:
    from ..answers.flow.fact import FactKind
    from ..answers.stats import Line
    from ..answers.why.answers import Answer
    from .evidence import Evidence

Options = Mapping[str, float]


class Thresholds(dict[str, float]):
    """The numbers of a rule, and those that hold for some parameters in their place."""

    special: Sequence[tuple[Sequence[str], Options]] = ()
    """Globs of parameters with what holds for them; the later ones are stronger."""

    def options_for(self, parameter: str) -> Options:
        """Return the options for a parameter."""
        told: Options = self
        for patterns, options in self.special:
            if any(fnmatchcase(parameter, pattern) for pattern in patterns):
                told = {**told, **options}
        return told


@dataclass(frozen=True, slots=True)
class Hit:
    """Report of a rule about a model, before it is known which model and which severity: see :class:`Finding`.

    Attributes:
        certain: whether nobody can have meant it: else an error is a warning.
        severity: how much it matters, in place of what the rule says.
        places: lines that lead to the cause, each with what it is.
        numbers: what was measured, by name.
    """

    subject: str
    message: str
    location: Location | Place = NOWHERE
    also: tuple[str, ...] = ()
    explanation: tuple[str, ...] = ()
    advice: str = ""
    certain: bool = True
    severity: Severity | None = None
    places: Sequence[tuple[str, Location]] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)

    def spots(self) -> tuple[tuple[str, Spot], ...]:
        """Return the places that are known."""
        return tuple((what, spot) for what, at in self.places if (spot := Spot.locate(at)) is not None)

    def evidence(self) -> dict[str, float]:
        """Return the numbers that are finite; JSON holds no others."""
        return {name: value for name, value in self.numbers.items() if math.isfinite(value)}


@dataclass(frozen=True, slots=True)
class NotAsked:
    """Note that a rule could not look at all of a model, so that finding nothing says nothing.

    Attributes:
        why: what rule GT901 tells of it; empty where that is told elsewhere.
    """

    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A rule.

    Attributes:
        code: ``GT103``; never given to another rule.
        name: ``detached``.
        summary: what it finds, in one sentence.
        why: why it matters.
        severity: how much, unless the settings say otherwise.
        look: what it finds in a model.
        wrong, right: two models; the first one has the finding, the second one has none.
        options: numbers that settings may change: name -> its value and what it means.
        by_parameter: whether these are asked for each parameter, so that settings may change them for some.
        always: whether it is on unless the settings say otherwise.
        shown: options that the two models are judged with, where those of the rule fit no small model.
        golden: whether it compares with a golden file, and is applied only if there is one; of the two models, that
            file keeps the graph of the right one.
        alone: whether it is about the process that a model runs in: its example is run in one of its own.
        explains: whether what it finds may be why a file raises, so that it looks at what ran before that.
    """

    code: str
    name: str
    summary: str
    why: str
    severity: Severity
    look: Callable[[Evidence, Thresholds], Iterator[Hit | NotAsked]]
    wrong: str
    right: str
    options: Mapping[str, tuple[float, str]] = field(default_factory=dict)
    by_parameter: bool = False
    always: bool = True
    shown: Mapping[str, float] = field(default_factory=dict)
    golden: bool = False
    alone: bool = False
    explains: bool = False

    def findings(
        self,
        evidence: Evidence,
        options: Options | None = None,
        special: Sequence[tuple[Sequence[str], Options]] = (),
    ) -> Iterator[Finding]:
        """Yield the findings of the rule in the model that *evidence* is of.

        Args:
            options: those that are not as the rule has them.
            special: those of some parameters, see :class:`Thresholds`.
        """
        values = Thresholds({name: value for name, (value, _) in self.options.items()} | dict(options or {}))
        values.special = special
        for hit in self.look(evidence, values):
            if isinstance(hit, NotAsked):
                evidence.not_asked(self.code, hit.why)
                continue
            usual = Severity.WARNING if not hit.certain and self.severity is Severity.ERROR else self.severity
            yield Finding(
                self.code,
                self.name,
                hit.severity or usual,
                evidence.name,
                hit.subject,
                hit.message,
                Spot.locate(hit.location),
                hit.also,
                hit.explanation,
                hit.advice,
                places=hit.spots(),
                evidence=hit.evidence(),
            )


def find_nothing(evidence: Evidence, options: Options) -> Iterator[Hit]:
    """A look at no model: what such a rule describes is found by somebody else."""
    yield from ()


def look_for_verdict(code: str) -> Callable[[Evidence, Options], Iterator[Hit]]:
    """Return a look at the findings of ``why`` whose verdict names the rule with that code."""

    def look(evidence: Evidence, options: Options) -> Iterator[Hit]:
        for loss, answer in evidence.answers if evidence.has_passed else ():
            if answer.finding and answer.verdict.row.rule == code:
                yield answer_hit(answer, loss)
        yield from _find_flat(evidence, code)

    return look


def _find_flat(evidence: Evidence, code: str) -> Iterator[Hit]:
    """Yield the values that get zeros alone at lines that no answer about a parameter names.

    An operator that has no gradient explains the zeros that its results multiply by at its own line.
    """
    losses = evidence.losses if evidence.has_passed else ()
    named = _findings_by_line(evidence)
    for loss, verdicts in losses:
        for flat in [f for f in verdicts.flat if f.verdict.row.rule == code]:
            others = named.get(flat.location[:1], [])
            if not any(a.verdict is flat.verdict or not flat.explains_zeros for a in others):
                said, numbers = (*flat.explanation, *loss_note(loss)), {"elements": flat.elements}
                place = flat.location
                yield Hit("", flat.message, place, (), said, flat.advice, severity=Severity.WARNING, numbers=numbers)


def _findings_by_line(evidence: Evidence) -> dict[Location, list[Answer]]:
    """Return the answers about parameters that are findings, by each line that they name."""
    named: dict[Location, list[Answer]] = {}
    for answer in [a for _, a in evidence.answers if a.finding]:
        for at in (answer.location, answer.cut_at):
            named.setdefault(at[:1], []).append(answer)
    return named


def answer_hit(answer: Answer, loss: str = "") -> Hit:
    """A finding of ``why`` as a rule's.

    Args:
        loss: what it is about, where that is not the loss that the file backpropagates last.
    """
    state = f"{answer.state}: " if answer.state else ""
    message = f"{answer.name} has {state}{answer.label}" if state else f"{answer.name}: {answer.label}"
    explanation = (*answer.said, *answer.further, *loss_note(loss))
    return Hit(
        answer.name,
        message,
        answer.location,
        answer.also,
        explanation,
        answer.advice,
        answer.certain,
        Severity.NOTE if answer.untrained else None,
        places=[*answer.places, *((("the operator", answer.cut_at),) if answer.cut_at else ())],
        numbers={} if answer.gradient is None else answer.gradient.name_values(),
    )


def loss_note(loss: str) -> tuple[str, ...]:
    return (f"this is about the gradients of {loss}",) if loss else ()


def look_for_facts(*kinds: FactKind, declared: str = "") -> Callable[[Evidence, Options], Iterator[Hit | NotAsked]]:
    """A look at the flow of information: facts of these kinds that are not meant, and all of them where so declared.

    Args:
        declared: the option that says that none is meant.
    """

    def look(evidence: Evidence, options: Options) -> Iterator[Hit | NotAsked]:
        story = evidence.influences.story
        if story.unchecked:
            yield NotAsked()
        if story.no_calls and any(kind.is_of_calls for kind in kinds):
            yield NotAsked(story.no_calls)
        for fact in story.facts:
            if fact.kind in kinds and (fact.certain or options.get(declared)):
                message = f"step {fact.step}: {fact.message}" if fact.step else fact.message
                numbers = {**fact.numbers} | ({"step": fact.step} if fact.step else {})
                yield Hit(fact.subject, message, fact.loc, (), fact.said, fact.advice, numbers=numbers)

    return look


def births_of(kind: str) -> Callable[[Evidence, Options], Iterator[Hit | NotAsked]]:
    """A look at what ``nan`` finds: births of one kind of number."""

    def look(evidence: Evidence, options: Options) -> Iterator[Hit | NotAsked]:
        births = evidence.births
        if births.story.unchecked:
            yield NotAsked()
        for birth in births.story.births:
            if birth.kind == kind:
                operator, tensor = births.names.operator(birth), births.names.tensor(birth)
                message = f"{operator} makes {tensor} {kind} in {birth.count} of {birth.total} elements ({birth.part})"
                explanation = (birth.cause,) if birth.cause else ()
                numbers = {"elements": birth.total, birth.kind: birth.count, "step": birth.step}
                places = [] if birth.turned is None else [("turned NaN", birth.turned[1])]
                yield Hit(tensor, message, birth.loc, (), explanation, birth.advice, places=places, numbers=numbers)

    return look


def worst(evidence: Evidence, size: Callable[[Line], tuple[float, str] | None]) -> Iterator[Hit]:
    """A look at sizes of gradients: the worst of those that are wrong, with the others, for they share their cause.

    Args:
        size: how wrong a finite gradient is, and what is said of it; None if it is not.
    """
    finite = [(loss, x) for loss, x in evidence.parameters if x.gradient is not None and not x.gradient.nonfinite]
    sizes = [(size(x), loss, x) for loss, x in finite]
    wrong = sorted([(s, loss, x) for s, loss, x in sizes if s is not None], key=lambda entry: -entry[0][0])
    if wrong:
        (_, message), loss, line = wrong[0]
        others = dict.fromkeys(x.name for _, _, x in wrong if x.name != line.name)
        yield _judge_size(evidence, loss, line, message, tuple(others))


def _judge_size(evidence: Evidence, loss: str, line: Line, message: str, others: tuple[str, ...]) -> Hit:
    """Return the finding about a size, at the operator that is its cause where that is known."""
    cause = _cause_of_size(evidence, line.name)
    numbers = {} if line.gradient is None else line.gradient.name_values()
    numbers |= {} if line.ratio is None else {"ratio": line.ratio}
    if cause is None:
        return Hit(line.name, message, line.loc, others, loss_note(loss), numbers=numbers)
    said = (*cause.said, *cause.further, *loss_note(loss))
    places = [*cause.places, *((("the parameter", line.loc),) if line.loc else ())]
    return Hit(line.name, message, cause.location, others, said, cause.advice, places=places, numbers=numbers)


def _cause_of_size(evidence: Evidence, name: str) -> Answer | None:
    """Return the answer that names the operator which makes a gradient so small or so large; None without one."""
    sized = (a for _, a in evidence.answers if a.verdict.is_size and a.location)
    return next((a for a in sized if name == a.name or name in a.also), None)
