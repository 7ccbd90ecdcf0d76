"""Runs of one changed program, each in a process of its own: what it trains, and what two commands say of it."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

# Loaded once: every run is a fork of this process.
import gradtool.engine.gate.rules as rules
from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.gate.checking import Selection, judge_evidence
from gradtool.engine.gate.evidence import Evidence
from gradtool.engine.request.request import Request
from gradtool.viz.report import checkup
from gradtool.viz.report.findings import Noting, apply_rules

rules.every()

PATIENCE = 120
"""Seconds that one run may take."""


def forked(work: Callable[[], Any], folder: Path) -> Any:
    """Return what *work* returns in a child process, as JSON; ``{"died": …}`` where the child did not end well."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        signal.alarm(PATIENCE)
        os.chdir(folder)
        silence = os.open(os.devnull, os.O_RDWR)
        os.dup2(silence, 1), os.dup2(silence, 2)
        try:
            told = json.dumps(work())
        except BaseException as error:
            told = json.dumps({"died": f"{type(error).__name__}: {str(error)[:300]}"})
        with os.fdopen(theirs, "w") as pipe:
            pipe.write(told)
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    return json.loads(told) if told else {"died": f"status {status}"}


def _fingerprint(path: Path, framework: str) -> dict[str, Any]:
    if framework == "torch":
        from . import torch_effects

        return torch_effects.fingerprint(str(path))
    import gradtool

    from . import effects

    gradtool.as_paddle()
    return effects.fingerprint(str(path))


def trained(path: Path, folder: Path, framework: str = "paddle") -> dict[str, Any]:
    """Run a program with nothing watching it; see :func:`.effects.fingerprint`.

    Args:
        framework: ``paddle``, which the engine stands for, or ``torch``, which must be installed.
    """
    told: dict[str, Any] = forked(lambda: _fingerprint(path, framework), folder)
    return told


def takes_gradients(path: Path, folder: Path, framework: str = "paddle") -> set[tuple[int, int]]:
    """Return the places of the values that take gradients, of those that a program gives to ``probe_of_a_fault``."""

    def work() -> list[tuple[int, int]]:
        import builtins

        seen: set[tuple[int, int]] = set()

        def probe(place: tuple[int, int], value: Any) -> Any:
            if place not in seen and _takes_gradients(value):
                seen.add(place)
            return value

        builtins.probe_of_a_fault = probe  # type: ignore[attr-defined]
        _fingerprint(path, framework)
        return sorted(seen)

    told = forked(work, folder)
    return set() if isinstance(told, dict) else {(start, end) for start, end in told}


def _takes_gradients(value: Any) -> bool:
    if isinstance(value, type) or not hasattr(value, "backward"):
        return False
    return bool(getattr(value, "requires_grad", not getattr(value, "stop_gradient", True)))


def checked(path: Path, folder: Path) -> list[dict[str, Any]] | dict[str, str]:
    """Return the findings of ``gradtool check``."""

    def work() -> list[dict[str, Any]]:
        raised: list[str] = []
        note = Evidence.note_failure

        def failed(self: Evidence, code: str, error: Exception) -> None:
            if not isinstance(error, (CommandError, GradtoolError)):
                raised.append(f"{code}: {error!r}")
            note(self, code, error)

        Evidence.note_failure = failed  # type: ignore[method-assign]
        evidence = Evidence(Request.create(str(path), unfinished=True), path.name)
        said = [_said(f, path) for f in judge_evidence(evidence, Selection())]
        assert not raised, f"a rule raised: {raised}"
        return said

    told: list[dict[str, Any]] | dict[str, str] = forked(work, folder)
    return told


def _said(finding: Any, path: Path) -> dict[str, Any]:
    spot = finding.spot
    lines = [spot.line] if spot is not None and os.path.realpath(spot.file) == os.path.realpath(path) else []
    words = (finding.message, *finding.explanation)
    return _entry(finding.code, finding.severity.value, finding.subject, lines, words, path)


def _entry(
    code: str, severity: str, subject: str | None, lines: list[int], words: Sequence[str], path: Path
) -> dict[str, Any]:
    """Return a finding with its words and the lines of the program that it names: its own first, then the others."""
    further = [int(n) for text in words for n in re.findall(rf"{re.escape(path.name)}:(\d+)", text)]
    lines = [*lines, *further]
    return {"code": code, "severity": severity, "subject": subject or "", "lines": lines, "words": "; ".join(words)}


def answered(path: Path, folder: Path) -> list[dict[str, Any]] | dict[str, str]:
    """Return the findings of ``gradtool MODEL``."""

    def work() -> list[dict[str, Any]]:
        request = Request.create(str(path), unfinished=True)
        data = checkup.view(apply_rules(request, None, Noting()), request).data
        return [_reported(result, path) for result in data["results"]]

    told: list[dict[str, Any]] | dict[str, str] = forked(work, folder)
    return told


def _reported(result: dict[str, Any], path: Path) -> dict[str, Any]:
    source = result["source"]
    lines = [source["line"]] if source and os.path.basename(source["file"]) == path.name else []
    words = (result["message"], *result["explanation"])
    return _entry(result["code"], result["severity"], result["subject"], lines, words, path)
