"""From what rules found in each model to what is reported: what is left out, waived or known already goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..core.records import dataclass
from . import waivers
from .baseline import Baseline
from .causes import roots
from .check_result import CheckedModel, Job
from .finding import IN_SOURCE, Finding, Severity, Suppressed
from .policy import Policy
from .process import CRASHED, TIMED_OUT
from .report import Report
from .waivers import WaiverUse

_NOT_WHOLE = frozenset({"GT903", CRASHED, TIMED_OUT})
"""Of a model with one of these it is not known what else there is."""


@dataclass(frozen=True)
class Judged:
    """Report about models.

    Attributes:
        findings: that count.
        suppressed: that do not: they are meant to be, as waivers say, or stand in the baseline.
        gone: how many stand there and are found no longer.
        all: that would count without a baseline.
    """

    findings: Sequence[Finding]
    suppressed: Sequence[Suppressed]
    gone: int
    all: Sequence[Finding]


def report_models(
    jobs: Sequence[Job],
    results: Sequence[CheckedModel],
    policy: Policy,
    root: str,
    baseline: Baseline | None = None,
    fail_on: Severity = Severity.ERROR,
) -> Report:
    """Return what is reported of models.

    Args:
        jobs: what was asked.
        results: what came of each.
        root: the folder that paths are relative to.
        baseline: findings that are known already.
        fail_on: what matters as much makes the gate fail.
    """
    told = judge_models(jobs, results, policy, baseline or Baseline())
    rules = {rule.code: rule for job in jobs for rule in job.selection.rules()}
    return Report(
        told.findings,
        [job.subject.name for job in jobs],
        [rules[code] for code in sorted(rules)],
        root,
        fail_on,
        told.suppressed,
        told.gone,
        told.all,
        {job.subject.name: r.scope for job, r in zip(jobs, results, strict=True) if r.scope is not None},
    )


def judge_models(jobs: Sequence[Job], results: Sequence[CheckedModel], policy: Policy, baseline: Baseline) -> Judged:
    """Return the report about models.

    Args:
        jobs: what was asked.
        results: what came of each.
    """
    found: list[Finding] = []
    readings = []
    for job, result in zip(jobs, results, strict=True):
        for finding in result.findings:
            left = policy.filter_finding(finding, job.subject)
            if left is not None:
                found.append(_weigh(left, job, policy))
        applied = frozenset(rule.code for rule in job.selection.rules())
        whole = _NOT_WHOLE.isdisjoint(f.code for f in result.findings)
        asked = applied.difference(result.unasked)
        readings.append(WaiverUse(job.subject.name, result.waivers, result.findings, asked, whole))
    by_name = {job.subject.name: job for job in jobs}
    every = dict.fromkeys(waiver for reading in readings for waiver in reading.waivers)
    causes = roots(found)
    suppressed: list[Suppressed] = []
    counted: list[Finding] = []
    for finding in causes:
        waiver = waivers.match_waiver(finding, every)
        if waiver is None:
            counted.append(finding)
        else:
            suppressed.append(Suppressed(finding, IN_SOURCE, waiver.reason))
    for finding in waivers.find_problems(readings):
        job = by_name[finding.model]
        left = policy.filter_finding(finding, job.subject)
        if left is not None:
            counted.append(_weigh(left, job, policy))
    counted.sort(key=lambda f: f.order)
    new, known, gone = baseline.split(counted, {*by_name})
    return Judged(new, sorted([*suppressed, *known], key=lambda s: s.finding.order), gone, counted)


def _weigh(finding: Finding, job: Job, policy: Policy) -> Finding:
    return replace(finding, severity=policy.severity(finding, job.subject, job.selection.severities))
