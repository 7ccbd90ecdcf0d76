"""Finding where the process of a model does not come to its end."""

from __future__ import annotations

from typing import Final

from ..script.processes import how_it_ended
from . import rules
from .finding import Finding
from .subject import Subject

CRASHED: Final = "GT904"
TIMED_OUT: Final = "GT905"
"""The codes; :mod:`.rules.crashed` and :mod:`.rules.timed_out` describe them."""

_LINES: Final = 5
"""Of what a model printed before it ended, the last lines are told."""


def report_crash(subject: Subject, code: int, said: str) -> Finding:
    """The finding about a model whose process ended before there was an answer.

    Args:
        code: the exit code; a negative one is the number of a signal.
        said: what it had printed.
    """
    last = said.strip().splitlines()[-_LINES:]
    return _make_finding(
        CRASHED,
        subject,
        f"the process that {subject.name} ran in ended {how_it_ended(code)}",
        tuple(f"last it printed: {line}" for line in last),
        f"python {subject.file} shows it alone; -X faulthandler says where",
    )


def report_timeout(subject: Subject, seconds: float) -> Finding:
    """The finding about a model that took too long."""
    return _make_finding(
        TIMED_OUT,
        subject,
        f"{subject.name} had no answer after {seconds:g} seconds",
        (),
        "--steps N or --limit SECONDS ends a training earlier and answers; --timeout SECONDS waits longer",
    )


def _make_finding(code: str, subject: Subject, message: str, explanation: tuple[str, ...], advice: str) -> Finding:
    rule = rules.every()[code]
    return Finding(code, rule.name, rule.severity, subject.name, "", message, None, (), explanation, advice)
