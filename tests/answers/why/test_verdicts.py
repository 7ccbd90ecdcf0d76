"""The table of verdicts: what holds of each row, and what other tables say of verdicts."""

from __future__ import annotations

import inspect

import pytest

from gradtool.engine.answers.why.verdicts import UNRECORDED, Aspect, GradientState, Verdict, VerdictKind
from gradtool.engine.eager.journal_entries import Unrecorded
from gradtool.engine.gate import rules
from tests.answers.why import schema


@pytest.mark.parametrize("verdict", Verdict)
def test_the_fields_of_a_row_agree(verdict: Verdict) -> None:
    row = verdict.row
    assert not (row.is_intended and row.is_finding)
    assert verdict.text.startswith("zero:") <= (row.grad is GradientState.ZERO)
    assert (row.kind in (VerdictKind.CUT, VerdictKind.APART)) <= (row.grad is GradientState.NONE)
    assert (row.kind is VerdictKind.ARRIVED) <= (row.grad is GradientState.NUMBERS)
    assert verdict.has(Aspect.AT_REST) <= verdict.is_zero
    assert bool(row.unrecorded) <= verdict.is_cut
    assert not row.rule or row.rule in rules.every()


def test_texts_are_different() -> None:
    assert len({verdict.text for verdict in Verdict}) == len({verdict.value for verdict in Verdict}) == len(Verdict)


def test_findings_have_a_rule_but_for_what_the_rules_do_not_look_at() -> None:
    """Whoever reads ``.grad`` of a result sees None there himself; rules look at runs that were listened to."""
    without = ["NOT_RETAINED", "UNSEEN", "UNSEEN_ZERO"]
    assert [v.name for v in Verdict if v.is_finding and not v.row.rule] == without


def test_rules_that_look_for_verdicts_have_some() -> None:
    named = {v.row.rule for v in Verdict}
    looking = {code for code, rule in rules.really().items() if rule.look.__qualname__.startswith("look_for_verdict")}
    assert looking
    assert looking <= named


def test_every_reason_for_which_a_call_is_not_recorded_has_a_verdict() -> None:
    assert set(UNRECORDED) == set(Unrecorded.__members__)


def test_the_schema_lists_the_verdicts() -> None:
    text = schema.SCHEMA.read_text(encoding="utf-8")
    assert schema.written(text) == text, "python -m tests.answers.why.schema"


def test_what_is_documented_of_a_row_is_there() -> None:
    documented = inspect.getdoc(type(Verdict.OK.row)) or ""
    assert all(f"{name}:" in documented for name in Verdict.OK.row.__dataclass_fields__)
