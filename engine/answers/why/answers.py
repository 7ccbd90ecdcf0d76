"""Answers: why a tensor has no gradient, or a zero one, with all that is known around it, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from ...core import source
from ...core.records import dataclass
from ...core.result import Result
from ...core.source import NOWHERE, Location, Place
from ..numbers import Numbers
from .folding import fold_names
from .verdicts import Aspect, GradientState, Verdict

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class GradientShare:
    """The share of one use of a tensor in its gradient.

    Attributes:
        op: the operator that uses it.
        cosine: of the angle between this part and the sum of all; None where one of them is zero.
        lost: why it adds nothing, where no gradient comes back through it; otherwise empty.
    """

    op: str
    source: Place
    norm: float | None
    cosine: float | None
    lost: str = ""

    def __str__(self) -> str:
        cosine = "" if self.cosine is None else f" · cosine with the sum {self.cosine:+.3f}"
        norm = self.lost or "none" if self.norm is None else f"‖·‖ = {self.norm:.4g}"
        return f"use by {self.op}  {self.source}  {norm}{cosine}"


class Shared(NamedTuple):
    """Another tensor behind a cut; *partly* where it gets a gradient on another way."""

    name: str
    partly: bool


class ChainEnd(NamedTuple):
    """The end of what is computed from a tensor."""

    name: str
    source: Place


@dataclass(frozen=True, slots=True)
class Answer(Result):
    """Why a tensor has the gradient that it has.

    Attributes:
        label: the verdict in words, with numbers where it has some.
        finding: whether something is wrong, unless someone wanted it so.
        certain: whether nobody can have meant it: else the gate warns.
        untrained: whether nothing trains the whole model that the tensor is a part of, while others are trained: a
            finding is a note then.
        fed: whether the cause is a zero that a run was fed: another run may be fed something else.
        said: sentences that explain.
        location: the user's line to look at: the cause.
        cut_at: the operator's line, where that is another one; of what nobody uses, where it was made.
        path: from the loss to the tensor, operators by name; :data:`CUT` stands where gradients end.
        cut: the name of the tensor at which gradients end, or empty.
        cut_lines: the lines (file and number) that a run without the cut has to spare.
        shared: other tensors behind the same cut, and whether they get a gradient on another way.
        frontier: where what is computed from the tensor ends, if it never meets the loss: name and place.
        places: several lines that belong together, and what each of them is.
        parts: what each use adds to the gradient, where the tensor is used several times.
        gradient: the numbers of the gradient; None where there is none, or no values.
        advice: what would change the verdict.
        proved: the gradient after the smallest change that connects it, see ``--prove``.
        also: other tensors with the same verdict for the same reason.
        beside: of a frozen parameter among equal ones of other layers, those that are trained.
    """

    name: str
    tensor: str
    shape: tuple[int, ...]
    dtype: str
    is_parameter: bool
    verdict: Verdict
    label: str
    finding: bool
    said: tuple[str, ...] = ()
    location: Location = NOWHERE
    cut_at: Location = NOWHERE
    path: tuple[str, ...] = ()
    cut: str = ""
    cut_lines: tuple[tuple[str, int], ...] = ()
    shared: tuple[Shared, ...] = ()
    frontier: tuple[ChainEnd, ...] = ()
    places: tuple[tuple[str, Location], ...] = ()
    parts: tuple[GradientShare, ...] = ()
    gradient: Numbers | None = None
    advice: str = ""
    proved: str = ""
    also: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    certain: bool = True
    untrained: bool = False
    fed: bool = False

    @property
    def source(self) -> Place:
        """``model.py:14``, or empty."""
        return source.short(self.location)

    @property
    def operator(self) -> str:
        """The line of the operator that it is about, ``model.py:14``: ``where`` takes it. Empty if there is none."""
        if self.verdict.has(Aspect.NO_OPERATOR):
            return ""
        return source.short(self.cut_at or self.location)

    @property
    def code(self) -> str:
        """The user's line itself, or empty."""
        return _code(self.location)

    @property
    def has_gradient(self) -> bool:
        """Return whether a gradient arrives that is not zero, whatever else is wrong with it."""
        if self.verdict is Verdict.VANISHED:
            return self.gradient is not None and self.gradient.norm > 0
        return self.verdict.arrives

    @property
    def state(self) -> str:
        """``grad = None``, ``grad = 0``, ``grad = NaN`` or the norm."""
        if self.verdict is Verdict.NOT_FINITE:
            return f"grad = {self.label}"
        zero = self.verdict.is_zero
        if self.gradient is not None and (self.gradient.norm or not zero):
            return f"‖g‖ = {self.gradient.norm:.4g}"
        if zero:
            return GRAD_ZERO
        return GRAD_NONE if self.verdict.row.grad is GradientState.NONE else ""

    @property
    def verdict_shown(self) -> str:
        """The label as people see it: in capitals where it is the verdict's own."""
        return self.label.upper() if self.verdict.text == self.label else self.label

    def rejudge(self, verdict: Verdict, *said: str, **fields: Any) -> Answer:
        """Return this answer with another verdict, a finding if that is one, and with these sentences alone.

        Args:
            fields: other fields; ``label`` and ``finding`` come before what the verdict says.
        """
        return replace(
            self, **{"verdict": verdict, "label": verdict.text, "finding": verdict.is_finding, "said": said, **fields}
        )

    def lines(self) -> list[str]:
        """The answer for people."""
        head = f"{self.name}   {self.state}".rstrip()
        lines = [f"{head}   verdict: {self.verdict_shown}"]
        if self.path:
            lines.append(f"  {arrows(self.path)}")
        if self.location:
            lines.append(f"  {self.source}    {self.code}".rstrip())
            package = source.package_place(self.location)
            lines += [f"  inside {package}"] if package else []
        lines += [f"  {s}" for s in (*self.said, *self.further)]
        return [*lines, *(f"  {part}" for part in self.parts), *self._advice_lines()]

    def _advice_lines(self) -> list[str]:
        """Return the lines below the explanation: what to do, and other tensors with the same verdict."""
        lines: list[str] = []
        if self.advice:
            lines.append(f"  try  {self.advice}")
        if self.proved:
            lines.append(f"  {self.proved}")
        if self.also:
            lines.append(f"  the same holds for {len(self.also):,} more: {fold_names(self.also)}")
        if self.shared:
            names = fold_names([f"{n} (partly)" if partly else n for n, partly in self.shared])
            lines.append(f"  {len(self.shared):,} more share this cut: {names}")
        return lines

    @property
    def further(self) -> list[str]:
        """Lines of text that belong to the cause: calls, cuts, ends of the tensor's part of the graph."""
        places = self._places()
        wide = max((len(what) for what, _ in places), default=0)
        lines = [f"{what:<{wide}}  {source.short(at)}    {_code(at)}".rstrip() for what, at in places if at]
        for name, place in self.frontier:
            lines.append(f"its part of the graph ends at {name}" + (f", {place}" if place else ""))
        return lines

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _places(self) -> list[tuple[str, Location]]:
        """The lines that belong together beside the cause."""
        what = "made" if self.verdict is Verdict.NO_PATH else "cut at"
        return [*([(what, self.cut_at)] if self.cut_at else []), *self.places]

    def data(self) -> dict[str, Any]:
        """The answer in JSON's types."""
        return {
            "name": self.name,
            "tensor": self.tensor,
            "shape": list(self.shape),
            "dtype": self.dtype,
            "is_parameter": self.is_parameter,
            "verdict": self.verdict.name.lower(),
            "verdict_text": self.verdict.text,
            "label": self.label,
            "finding": self.finding,
            "explanation": list(self.said),
            "source": self.source.data(),
            "code": self.code,
            "path": list(self.path),
            "cut": self.cut or None,
            "shared": [{"name": n, "partly": partly} for n, partly in self.shared],
            "frontier": [{"name": n, "source": s.whole} for n, s in self.frontier],
            "places": [{"what": w, "source": source.short(at).whole, "code": _code(at)} for w, at in self._places()],
            "contributions": [
                {"operator": p.op, "source": p.source.whole, "norm": p.norm, "cosine": p.cosine, "lost": p.lost or None}
                for p in self.parts
            ],
            "gradient": None if self.gradient is None else self.gradient.data(),
            "advice": self.advice,
            "proved": self.proved or None,
            "also": list(self.also),
        }


def judge(looks: Iterable[Callable[[S, Answer], Answer | None]], subject: S, answer: Answer) -> Answer:
    """Return the first answer that one of *looks* gives about *subject*; *answer* where none of them applies."""
    return next((judged for look in looks if (judged := look(subject, answer)) is not None), answer)


class Answers(list[Answer], Result):
    """Several answers, one after another."""

    def __str__(self) -> str:
        return "\n\n".join(map(str, self))


def _code(location: Location) -> str:
    return source.text(*location[0]) if location else ""


CUT = "✂"
GRAD_NONE, GRAD_ZERO = "grad = None", "grad = 0"


def arrows(path: Sequence[str]) -> str:
    """``loss ← mean.0 ──✂── detach.0 ← w``."""
    text = ""
    for i, station in enumerate(path):
        if station == CUT:
            text += " ──✂── "
        else:
            text += station if i == 0 or path[i - 1] == CUT else f" ← {station}"
    return text
