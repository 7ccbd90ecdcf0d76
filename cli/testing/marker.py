"""``@pytest.mark.gradtool``: the rules of the gate, applied to what a test backpropagates."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from gradtool.engine.core.command_errors import CommandError, ModelError
from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.gate import checking
from gradtool.engine.gate.evidence import Evidence
from gradtool.engine.gate.failures import NotApplicable
from gradtool.engine.gate.finding import Finding, Severity
from gradtool.engine.gate.report import Report
from gradtool.engine.gate.rules import every
from gradtool.engine.gate.selection import Selection
from gradtool.engine.questions.nan import Births
from gradtool.engine.request.request import Request
from gradtool.viz import gate

from . import losses
from .plugin import MARKER

_WORDS = ("select", "ignore", "fail_on")


class HeldEvidence(Evidence):
    """Evidence about a loss that a test holds: births of NaN were seen while the test ran."""

    def __init__(self, request: Request, holder: losses.TestedSession, wanted: Collection[str]) -> None:
        super().__init__(request, holder.name)
        self._holder, self._wanted = holder, wanted

    def collect(self, code: str, findings: Iterable[Finding]) -> Iterator[Finding]:
        """As in the base; rules that would run the test once more are left out, which rule GT901 tells.

        Raises:
            NotApplicable: the marker selects one of these by its code or name.
        """
        try:
            yield from findings
        except ModelError:
            raise
        except CommandError as refused:
            if code in self._wanted or every()[code].name in self._wanted:
                raise NotApplicable(
                    f"{code} cannot be applied to a test: {refused.message}",
                    "put the model into a file of its own: pytest --gradtool FILE checks it",
                ) from None
            self.note_untried(f"{code} was not applied: it runs the model once more")

    @cached_property
    def births(self) -> Births:
        """As in the base."""
        return self._holder.births_of(self.request)


def failure(item: Any) -> str:
    """Return the findings of the rules in what a marked test backpropagated, as text; empty where nothing makes it
    fail.

    Asked about is its last backward pass, as ``gradtool check`` asks about a file's.

    Args:
        item: pytest's.
    """
    try:
        words = _words(item)
        holder = losses.current()
        assert holder is not None
        report = _report(holder, words)
    except (CommandError, GradtoolError) as error:
        return f"gradtool: {error}"
    return gate.render(report, "full").rstrip() if report.findings else ""


def _words(item: Any) -> dict[str, Any]:
    """The words of the marker and, where they have some, of those around it."""
    words: dict[str, Any] = {}
    for mark in reversed([*item.iter_markers(MARKER)]):
        if mark.args or not {*mark.kwargs} <= {*_WORDS}:
            wrong = [*map(repr, mark.args), *(name for name in mark.kwargs if name not in _WORDS)]
            raise CommandError(f"the marker gradtool does not take {', '.join(wrong)}", f"it takes {', '.join(_WORDS)}")
        words |= mark.kwargs
    return words


def _report(holder: losses.TestedSession, words: dict[str, Any]) -> Report:
    selection = Selection(select=_codes(words.get("select", ())), ignore=_codes(words.get("ignore", ())))
    fail_on = words.get("fail_on", "error")
    if fail_on not in [s.value for s in Severity]:
        raise CommandError(f"fail_on={fail_on!r}: expected error, warning or note")
    passes = [p for p in holder.backpropagated if p[0] != "grad"] or holder.backpropagated
    if not passes:
        raise CommandError(
            "the test ran no backward pass, so that nothing was checked",
            "call backward() in the test, or use assert_all_parameters_get_gradients(loss)",
        )
    _, loss, names = passes[-1]
    with holder.loss_request(loss, names) as request:
        evidence = HeldEvidence(request, holder, selection.select)
        others = dict.fromkeys(_name(other, known) for _, other, known in passes[:-1] if other is not loss)
        others.pop(_name(loss, names), None)  # an earlier step of the same loop
        if others:
            evidence.incomplete = True
            evidence.note_untried(
                f"the gradients of {', '.join(others)}: looked at is the last backward pass of a test"
            )
        results = checking.judge_evidence(evidence, selection)
    return Report(results, [holder.name], selection.rules(), os.getcwd(), Severity(fail_on))


def _name(loss: Any, names: Mapping[str, Any]) -> str:
    """Return the test's name for a loss."""
    return next((name for name, value in names.items() if value is loss), "a loss without a name")


def _codes(texts: str | Sequence[str]) -> tuple[str, ...]:
    several = texts.split(",") if isinstance(texts, str) else texts
    return tuple(code.strip() for code in several if code.strip())
