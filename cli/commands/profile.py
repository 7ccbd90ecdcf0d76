"""Time and bytes of forward and backward per operator, type, layer or line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from ..asking import ask, must_be_one
from ..context import Output, model_options, output_options
from ..errors import CLEAN


@click.command("profile")
@model_options
@click.option(
    "--by",
    type=click.Choice(["op", "type", "layer", "line", "iteration", "part"]),
    default="type",
    show_default=True,
    help="What a row is.",
)
@click.option("--repeats", type=click.IntRange(1), default=5, show_default=True, help="How often to measure.")
@click.option("--top", type=click.IntRange(1), metavar="N", help="Only the N slowest rows.")
@click.option(
    "--flame", metavar="FILE", help="Write stacks for programs that draw flame graphs: folded; FILE.json: speedscope."
)
@click.option("--fused", is_flag=True, help="Show which operators are computed together, and what that takes.")
@click.option("--feed", metavar="FILE[ROWS]", help="Arrays to feed, by name.")
@output_options
def command(**values: Any) -> int:
    """Measure MODEL's operators, forward and backward: median over the repeats, and their spread.

    \b
    gradtool profile model.py --by layer
    gradtool profile model.py --flame stacks.txt
    gradtool profile model.py --fused

    What is measured is the kernel or the gradient rule, without Python around it, after a run that does not count; of
    a branch or a loop of a program what stands around the operators inside, which are counted for themselves. The
    file runs once: in dynamic mode the operators of its last forward pass are called again on what they read. On JAX
    (--backend jax) it is the time on the device, of the program as it is compiled, or of what was recorded as one
    program: what XLA has fused is shared among its operators, and what belongs to none of them has rows of its own.

    With --fused: the groups of operators that one compiled function computes once a program has run often (--backend
    numba), each with its operators and their lines, its time, and the time of the same operators one by one.
    """
    out = Output.take(values)
    from gradtool.engine.questions.profile import Profile
    from gradtool.engine.request.request import Request
    from gradtool.viz.views import profile

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
    from gradtool.engine.core.command_errors import CommandError
    from gradtool.engine.questions.fusion import Fusion
    from gradtool.engine.request.request import Request
    from gradtool.viz.views import fusion

    if others:
        raise CommandError(f"--fused and {others[0]} exclude each other: a row of --fused is a group or its operator")
    question = Fusion.take(values)
    return ask(question, Request.take(values), out, lambda answer: fusion.view(answer, top))
