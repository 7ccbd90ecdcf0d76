"""Rules that raise: each costs itself alone, and one finding names those that one error cost."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence

from ..core.command_errors import CommandError
from ..core.errors import GradtoolError
from . import rules
from .evidence import Evidence
from .finding import Finding
from .report import UNCHECKED
from .rule import Rule, find_nothing

UNLOADED = "GT903"
"""The code of what is found where a model cannot be asked at all; :mod:`.rules.unloaded` describes it."""


class NotApplicable(CommandError):
    """A rule that was selected by its code or name, and cannot be applied to the model."""


@contextlib.contextmanager
def keep_going(rule: Rule, evidence: Evidence) -> Iterator[None]:
    """Note what *rule* raises inside, and go on.

    Raises:
        CommandError, GradtoolError: the model cannot be asked at all, or its own backward pass fails.
    """
    try:
        yield
    except NotApplicable:
        raise
    except (CommandError, GradtoolError) as error:
        if not stands(evidence):
            raise
        evidence.note_failure(rule.code, error)
    except Exception as error:
        evidence.note_failure(rule.code, error)


def findings(evidence: Evidence, chosen: Sequence[Rule]) -> list[Finding]:
    """Return one finding for each error that rules have raised, where GT901 is chosen.

    Where no rule could answer, the model has not been checked, whatever is chosen: that is an error.
    """
    if _is_unanswered(evidence, chosen):
        return [_report_unanswered(evidence)]
    if all(rule.code != UNCHECKED for rule in chosen):
        return []
    rule = rules.every()[UNCHECKED]
    return [Finding(rule.code, rule.name, rule.severity, evidence.name, "", text, None) for text in _errors(evidence)]


def _is_unanswered(evidence: Evidence, chosen: Iterable[Rule]) -> bool:
    """Return whether each rule that looks at the model has raised."""
    raised = {code for codes in evidence.failures.values() for code in codes}
    # Rules that others find something for, and GT901 itself, look at nothing: their silence is no answer.
    looking = {rule.code for rule in chosen if rule.look is not find_nothing} - {UNCHECKED}
    return bool(looking) and looking <= raised


def _report_unanswered(evidence: Evidence) -> Finding:
    """Return the finding about a model that no rule could look at."""
    rule = rules.every()[UNLOADED]
    message = "no rule could answer: every one that looks at the model failed"
    return Finding(rule.code, rule.name, rule.severity, evidence.name, "", message, None, (), tuple(_errors(evidence)))


def _errors(evidence: Evidence) -> list[str]:
    """Return each error that was raised, after the rules that raised it."""
    return [f"{_rule_names(codes)}: {why}" for why, codes in evidence.failures.items()]


def _rule_names(codes: Iterable[str]) -> str:
    """Return the rules that an error cost; GT901 only looks where others do."""
    own = dict.fromkeys(codes)
    return ", ".join([code for code in own if code != UNCHECKED] or own)


def stands(evidence: Evidence) -> bool:
    """Return whether the model can be asked: its file ran, and left something to judge."""
    try:
        return evidence.verdicts.failure is None
    except (CommandError, GradtoolError):
        return False
    except Exception:
        return True  # that is about one question alone
