"""Rules that raise: each costs itself alone, and one finding names those that one error cost."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..core.command_errors import CommandError
from ..core.errors import GradtoolError
from . import rules
from .finding import Finding
from .report import UNCHECKED
from .rule import Rule

if TYPE_CHECKING:
    from .evidence import Evidence


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


def findings(evidence: Evidence, chosen: Iterable[Rule]) -> list[Finding]:
    """Return one finding for each error that rules have raised; none where GT901 is not chosen."""
    if all(rule.code != UNCHECKED for rule in chosen):
        return []
    rule = rules.every()[UNCHECKED]
    told = [f"{_rule_names(codes)}: {why}" for why, codes in evidence.failures.items()]
    return [Finding(rule.code, rule.name, rule.severity, evidence.name, "", text, None) for text in told]


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
