"""``check``: what the rules of the gate find in models."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import field, replace

from ..core import source
from ..core.command_errors import CommandError
from ..core.notes import SILENT, Notes
from ..core.records import dataclass
from ..request.request import Request
from ..script import sessions
from . import judging
from .baseline import Baseline
from .cache import ResultCache
from .check_result import CheckedModel, Job
from .finding import Severity
from .policy import Policy
from .report import Report
from .selection import Selection
from .subject import Subject

TIMEOUT = 300.0
"""Seconds that a model may take in a process of its own."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """Rules to apply, and conditions that make the gate fail.

    Attributes:
        golden: the file that keeps the model's graph, or a folder with such a file for each model.
        update: write these files first, where they differ.
        policy: what holds for which models, files and parameters.
        baseline: findings that are known already.
        jobs: how many models are checked side by side, each in a process of its own; 0 for one after the other in this
            process. By default that is so for one model, and several are checked on all processors.
        timeout: seconds after which a model in a process of its own is given up.
        cache: where is kept what came of models in processes of their own, and of one alone; None for nowhere.
    """

    policy: Policy = field(default_factory=Policy)
    baseline: Baseline = field(default_factory=Baseline)
    fail_on: Severity = Severity.ERROR
    golden: str | None = None
    update: bool = False
    jobs: int | None = None
    timeout: float = TIMEOUT
    cache: ResultCache | None = None

    def ask(self, models: Sequence[Subject], notes: Notes = SILENT) -> Report:
        """Check models.

        Raises:
            CommandError: a selector stands for no rule; there is no such golden file, or model if it is the only one.
        """
        if self.cache is not None:
            self.cache.recall_rules()
        files = self._golden_files(models, notes)
        jobs = [
            Job(subject=m, selection=self._selection(m), timeout=self.timeout, golden=file)
            for m, file in zip(models, files, strict=True)
        ]
        results = self._results(jobs)
        return judging.report_models(jobs, results, self.policy, os.getcwd(), self.baseline, self.fail_on)

    def _selection(self, model: Subject) -> Selection:
        return replace(self.policy.selection_for(model), golden=self.golden is not None)

    def _golden_files(self, models: Sequence[Subject], notes: Notes) -> Sequence[str | None]:
        """Return the files that keep the graphs of the models, written or found before anything is checked."""
        if self.golden is None:
            if self.update:
                raise CommandError("--update writes golden files", "--golden FILE.gt.txt says which")
            return [None for _ in models]
        from . import drift

        names = [m.target for m in models]
        files = [drift.file_of(name, self.golden, names) for name in names]
        for model, file in zip(models, files, strict=True):
            if self.update:
                drift.update(model.request(), file, notes)
            drift.must_be_there(file)
        return files

    def _results(self, jobs: Sequence[Job]) -> list[CheckedModel]:
        side_by_side = self.jobs if self.jobs is not None else _usual(jobs)
        if not side_by_side:
            return self._here(jobs)
        results = {n: self.cache.find(job) for n, job in enumerate(jobs)} if self.cache is not None else {}
        left = [n for n in range(len(jobs)) if results.get(n) is None]
        if left:
            from . import pool

            new = pool.check([jobs[n] for n in left], side_by_side)
            results |= zip(left, new, strict=True)
            self._keep([(jobs[n], result) for n, result in zip(left, new, strict=True)])
        whole = [result for _, result in sorted(results.items()) if result is not None]
        for result in whole:
            _say(result)
        return whole

    def _here(self, jobs: Sequence[Job]) -> list[CheckedModel]:
        """Return the results of jobs in this process, one after the other; of one alone, it may be known already."""
        if len(jobs) != 1 or self.cache is None or not _lies_in_files(jobs[0]):
            from . import checking

            return [checking.check_model(job, strict=len(jobs) == 1) for job in jobs]
        known = self.cache.find(jobs[0])
        if known is not None:
            _say(known)
            return [known]
        from . import checking, model_messages

        with model_messages.keep_output() as said:
            result = checking.check_and_record(jobs[0], strict=True)
        self._keep([(jobs[0], replace(result, said=said.text))])
        return [result]

    def _keep(self, new: Sequence[tuple[Job, CheckedModel]]) -> None:
        if self.cache is not None:
            for job, result in new:
                self.cache.keep(job, result)
            self.cache.write()


def check_request(request: Request, select: Sequence[str], ignore: Sequence[str], notes: Notes = SILENT) -> Report:
    """Check one model in this process, as the request loads it.

    Args:
        select, ignore: selectors of rules.
    """
    loading = {name: value for name, value in request.options().items() if name != "unfinished"}
    subject = Subject(name=source.last_part(request.model), target=request.model, options=loading)
    policy = Policy(selection=Selection(select=tuple(select), ignore=tuple(ignore)))
    return Check(policy=policy, jobs=0).ask([subject], notes)


def _say(result: CheckedModel) -> None:
    """Print what a model printed that did not run here."""
    if result.said:
        print(result.said, end="" if result.said.endswith("\n") else "\n", file=sys.stderr)


def _usual(jobs: Sequence[Job]) -> int:
    """Return the number of models to check side by side unless a number is given; a model on standard input is read
    here.
    """
    return 0 if len(jobs) < 2 or not all(map(_lies_in_files, jobs)) else os.cpu_count() or 1


def _lies_in_files(job: Job) -> bool:
    """Return whether another process finds the model: it is neither on standard input nor in the notebook of this
    process.
    """
    return job.subject.target.partition(":")[0] != "-" and sessions.current() is None
