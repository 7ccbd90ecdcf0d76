"""Time and bytes of forward and backward per operator, type, layer or line."""

from __future__ import annotations

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
@click.option("--feed", metavar="FILE.npz", help="Arrays to feed, by name.")
@output_options
def command(**values: Any) -> int:
    """Measure MODEL's operators, forward and backward: median over the repeats, and their spread.

    \b
    gradtool profile model.py --by layer
    gradtool profile model.py --flame stacks.txt

    What is measured is the kernel or the gradient rule, without Python around it, after a run that does not count; of
    a branch or a loop of a program what stands around the operators inside, which are counted for themselves. The
    file runs once: in dynamic mode the operators of its last forward pass are called again on what they read. Of a
    program on JAX (--backend jax) it is the time on the device, of the program as it is compiled: what XLA has fused
    is shared among its operators, and what belongs to none of them has rows of its own.
    """
    out = Output.take(values)
    from gradtool.models.loader import Request
    from gradtool.models.questions.profile import Profile
    from gradtool.viz.views import profile

    by, top, flame = (values.pop(name) for name in ("by", "top", "flame"))
    question = Profile.take(values)
    request = Request.take(values)
    if flame is None:
        return ask(question, request, out, lambda answer: profile.view(answer, by, top))
    must_be_one(request, "--flame")
    answer = question.ask(request, out)
    out.emit(profile.view(answer, by, top), {flame: profile.stacks(answer, flame)})
    return CLEAN
