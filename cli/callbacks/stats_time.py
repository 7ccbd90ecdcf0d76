"""Callback of ``gradtool stats --time``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.questions.profile import Profile
from gradtool.engine.request.request import Request
from gradtool.viz.views import profile

from ..context import Output
from ..errors import CLEAN
from ..queries import ask, must_be_one


def run(values: dict[str, Any]) -> int:
    """Run the command; return its exit code."""
    out = Output.take(values)
    by, top, flame, fused = (values.pop(name) for name in ("by", "top", "flame", "fused"))
    if fused:
        return _groups(values, out, top, [name for name, one in (("--by", by != "type"), ("--flame", flame)) if one])
    question = Profile.take(values)
    request = Request.take(values)
    if flame is None:
        return ask(question, request, out, lambda answer: profile.view(answer, by, top))
    must_be_one(request, "--flame")
    answer = question.ask(request, out)
    out.emit(profile.view(answer, by, top), {flame: profile.stacks(answer, flame)})
    return CLEAN


def _groups(values: dict[str, Any], out: Output, top: int | None, others: Sequence[str]) -> int:
    """Answer ``--fused``."""
    from gradtool.engine.questions.fusion import Fusion
    from gradtool.viz.views import fusion

    if others:
        raise CommandError(f"--fused and {others[0]} exclude each other: a row of --fused is a group or its operator")
    question = Fusion.take(values)
    return ask(question, Request.take(values), out, lambda answer: fusion.view(answer, top))
