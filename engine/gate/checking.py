"""Rules applied to a model."""

from __future__ import annotations

import contextlib
import linecache
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from ..core import source
from ..core.command_errors import CommandError, ModelError
from ..core.errors import GradtoolError
from ..core.source import is_installed
from ..request.request import Request
from ..script import imports, interrupting, model_output
from ..script.users_code import error_line, stack_of
from . import failures, rules, waivers
from .causes import roots
from .check_result import CheckedModel, Job
from .evidence import Evidence
from .finding import Finding, Spot
from .rule import Rule
from .selection import Selection

BACKWARD_FAILS = "GT108"
"""The code of an error in backward that explains itself; the other answers do not come to an end after it."""


def findings(
    request: Request, name: str, selection: Selection, feed: str | None = None, golden: str | None = None
) -> list[Finding]:
    """Return the findings of the rules in a model, in the order of files and lines; a model that raises is a finding
    itself.

    Args:
        request: how it is loaded.
        name: what findings call it.
        feed: a file of arrays to feed to a program.
        golden: the file that keeps its graph, if one does.

    Raises:
        CommandError: there is no such model or golden file, or a selector stands for no rule.
    """
    return judge_evidence(Evidence(request, name, feed, golden), selection)


def judge_evidence(evidence: Evidence, selection: Selection) -> list[Finding]:
    """Return the findings in a model that there is evidence of; as :func:`findings`."""
    with contextlib.closing(evidence), model_output.once():
        found = [_weigh(f, selection) for f in _find(evidence, selection)]
        return roots([replace(f, scope=evidence.scope) for f in found])


def check_model(job: Job, *, strict: bool = False) -> CheckedModel:
    """Check a model: every finding, also where several have one cause, and the waivers in its files.

    Args:
        strict: what cannot be asked for is an error; else it is a finding about the model.

    Raises:
        CommandError: a selector stands for no rule; there is no such model, and *strict* is set.
    """
    result, _ = _check(job, strict)
    return result


def check_and_record(job: Job, *, strict: bool = False) -> CheckedModel:
    """Check a model, and record what it depended on if this process watches no other yet.

    Args:
        strict: as in :func:`check_model`.

    Raises:
        CommandError: as in :func:`check_model`.
    """
    from . import preloading, usage

    preloading.load()
    subject = job.subject
    presses = interrupting.presses()
    with usage.record_usage() as used:
        result, origins = _check(job, strict)
    if subject.options.get("write") or subject.options.get("limit") is not None or interrupting.presses() != presses:
        return result  # what it writes is to be written; what comes in time, or until Ctrl-C, comes once
    is_file = os.path.isfile(subject.file)
    folder = os.path.dirname(os.path.abspath(subject.file)) if is_file else None
    return replace(result, used=used.data(origins, folder, [subject.file] if is_file else []))


def _check(job: Job, strict: bool) -> tuple[CheckedModel, dict[str, str]]:
    """Check a model; return by name also the files of the modules that were looked for."""
    subject = job.subject
    return _check_evidence(Evidence(subject.request(), subject.name, subject.feed, job.golden), job, strict)


def weigh(evidence: Evidence, job: Job, read: Callable[[Evidence], None]) -> CheckedModel:
    """Return what comes of a model as :func:`check_model` does, of evidence that somebody else reads as well.

    Args:
        read: reads the run before the rules do, of which some close it.

    Raises:
        CommandError, GradtoolError: there is no such model, it cannot be asked, or *read* raises.
    """
    return _check_evidence(evidence, job, True, read)[0]


def _check_evidence(
    evidence: Evidence, job: Job, strict: bool, read: Callable[[Evidence], None] | None = None
) -> tuple[CheckedModel, dict[str, str]]:
    subject = job.subject
    with imports.guard_imports() as guard, contextlib.closing(evidence), model_output.once():
        guard.origins.clear()
        if read is not None:
            read(evidence)
        found = _find(evidence, job.selection, ModelError if strict else CommandError)
        origins = dict(guard.origins)
        scope = evidence.scope
    modules = (file for name, file in origins.items() if file.endswith(".py") and not source.is_ours(name))
    files = {file for file in modules if not is_installed(file)}
    files |= {f.spot.file for f in found if f.spot is not None}
    if subject.file.endswith(".py"):
        files.add(subject.file)
    in_order = sorted((replace(f, scope=scope) for f in found), key=lambda f: f.order)
    # Of a file that was stopped no rule has seen the end.
    unasked = {rule.code for rule in job.selection.rules()} if evidence.incomplete else evidence.unasked
    result = CheckedModel(findings=in_order, waivers=_waivers(files), unasked=tuple(sorted(unasked)), scope=scope)
    return result, origins


def _waivers(files: Iterable[str]) -> list[waivers.Waiver]:
    """The waivers in files, each read once by whatever name."""
    named = {os.path.abspath(file): file for file in sorted(files)}
    told = []
    for file in named.values():
        linecache.checkcache(file)
        told += waivers.find_waivers(file, "".join(linecache.getlines(file)))
    return told


def _find(evidence: Evidence, selection: Selection, refused: type[CommandError] = ModelError) -> list[Finding]:
    found: list[Finding] = []
    chosen = selection.rules()
    try:
        for rule in chosen:
            with failures.keep_going(rule, evidence):
                found += _apply_rule(rule, evidence, selection)
    except (refused, GradtoolError) as error:
        if all(f.code != BACKWARD_FAILS for f in found):  # which says the same, and why
            known = {f.code for f in found}
            found += [f for f in _reasons(evidence, selection, chosen) if f.code not in known]
            found.append(_load_failure(evidence.name, error))
    return found + failures.findings(evidence, chosen)


def _apply_rule(rule: Rule, evidence: Evidence, selection: Selection) -> Iterator[Finding]:
    told = rule.findings(evidence, selection.options.get(rule.code), selection.special(rule.code))
    return evidence.collect(rule.code, told)


def _reasons(evidence: Evidence, selection: Selection, chosen: Iterable[Rule]) -> list[Finding]:
    """Return findings about why a file raised, in what ran before: numbers that are none are refused by what needs
    some.
    """
    evidence.partial = True
    found: list[Finding] = []
    for rule in chosen:
        with contextlib.suppress(Exception):  # the error itself is told in any case
            found += _apply_rule(rule, evidence, selection) if rule.explains else ()
    return found


def _weigh(finding: Finding, selection: Selection) -> Finding:
    return replace(finding, severity=selection.severities.get(finding.code, finding.severity))


def _load_failure(name: str, error: CommandError | GradtoolError) -> Finding:
    rule = rules.every()[failures.UNLOADED]
    cause = error.__cause__ if isinstance(error, ModelError) and error.__cause__ is not None else error
    users = isinstance(error, (ModelError, GradtoolError))
    spot = Spot.locate(error_line(cause)) if users else None
    if spot is not None and is_installed(spot.file):
        spot = None  # nothing of the user's had a part in it
    frames = tuple(stack_of(cause)) if spot is not None else ()
    return Finding(rule.code, rule.name, rule.severity, name, "", error.message, spot, (), frames, error.hint or "")
