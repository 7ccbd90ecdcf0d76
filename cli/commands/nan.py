"""``gradtool nan``: where the first NaN or infinity was born."""

from __future__ import annotations

from typing import Any

import click

from gradtool.models.errors import CommandError

from ..context import Output, model_options, output_options
from ..errors import CLEAN, FAILED

FORWARD_OVER = "the forward pass, which was over before the search"
"""What is not looked at where a tensor is asked about that is there already."""


@click.command("nan")
@model_options
@click.option("--big", type=float, metavar="LIMIT", help="Numbers beyond it count as overflow, e.g. 1e4.")
@click.option("--subnormal", is_flag=True, help="Numbers too small for full precision count.")
@click.option(
    "--order", type=click.IntRange(1, 2), default=1, show_default=True, help="2: gradients of gradients, too."
)
@click.option("--steps", type=click.IntRange(1), metavar="N", help="Look at N steps of training (see above).")
@click.option("--feed", metavar="FILE.npz", help="Arrays to feed, by name.")
@output_options
def command(**options: Any) -> int:
    """Search MODEL for the place where NaN or infinity is born, forward and backward.

    \b
    gradtool nan model.py
    gradtool nan train.py --steps 50 --big 1e4

    The file is watched while it runs. If it runs backward itself, all its passes (static: runs) are searched until one
    goes wrong, or N of them with --steps. If it does not, backward runs once. A file with a function step() has it
    called N times by --steps.

    Exit code 1: there is a finding. Infinities written on purpose, and values that reach neither the loss nor a
    gradient, are listed and are no findings.
    """
    out = Output.take(options)
    from gradtool.engine.answers.coverage import Coverage
    from gradtool.engine.answers.events import Adapter
    from gradtool.engine.answers.nan import Hunt
    from gradtool.engine.core import watch
    from gradtool.models import loader, opening
    from gradtool.models.loader import Request
    from gradtool.models.run_names import Names
    from gradtool.models.tape_model import TapeModel

    from ..nan_report import passes, report

    request = Request.take(options)

    def hunt() -> Hunt:
        return Hunt(options["big"], options["subnormal"], options["steps"])

    found = hunt()
    coverage = Coverage(found)
    adapter = Adapter(coverage)
    with watch.watched(adapter), loader.executed(request) as left:
        step = left.namespace.get("step")
        if options["steps"] and callable(step):
            for _ in range(options["steps"]):
                loader.call(left.name, step)
        adapter.finish()
        with watch.unwatched():
            model: Any = None
            try:
                model = opening.model_in(left, request)
            except CommandError as error:
                if not found.steps:
                    if callable(step):
                        raise CommandError(str(error), "--steps N searches N calls of its function step()") from None
                    raise
            if options["steps"] and not found.steps:
                raise CommandError(
                    f"--steps: {left.name} has no function step(), and runs no backward pass itself",
                    "put one step of training into step(), or the loop into the file",
                )
            eager = isinstance(model, TapeModel)
            if model is not None and (not found.steps or (options["order"] == 2 and found.story().clean)):
                if not eager:
                    found = hunt()
                    coverage = Coverage(found)
                _run(model, coverage, options, request.seed, out)
            elif found.steps:
                out.note(f"{left.name} ran backward itself: searched {passes(found.steps)}")
            unchecked = coverage.missing()
            if isinstance(model, TapeModel) and model.live:
                unchecked.append(FORWARD_OVER)
            if options["order"] == 2 and model is None:
                unchecked.append(f"gradients of gradients, since {left.name} leaves no loss behind to start from")
            story = found.story(unchecked)
            mode = "eager" if eager or (model is None and not left.main.global_block().ops) else "static"
            out.emit(report(story, left.name, mode, Names.of(model), request.words(), out.format))
    return CLEAN if story.clean else FAILED


def _run(model: Any, listener: Any, options: dict[str, Any], seed: int, out: Output) -> None:
    """One backward pass of *model* under watch."""
    from gradtool.engine.answers import running
    from gradtool.models.feeds import run
    from gradtool.models.tape_model import TapeModel

    if isinstance(model, TapeModel):
        if options["feed"]:
            raise CommandError(f"--feed works on static programs, and {model.name} works in dynamic mode")
        if model.live:
            refuse_bad_values(model)
        model.call(running.through_tape, model.loss, listener, options["order"])
        return
    running.through_program(
        model.the_loss,
        listener,
        order=options["order"],
        run=lambda fetch: run(model, fetch, options["feed"], "numpy", seed, out),
    )


def refuse_bad_values(model: Any) -> None:
    """Raise where forward values are bad already: backward would be blamed for what was born before it.

    Raises:
        CommandError: the loss, or a value that backward reads, is not finite.
    """
    from gradtool.engine.core import source
    from gradtool.engine.eager.tape import finite

    bad = next((n for n in model.nodes if not finite(n.args or ())), None)
    if bad is None and finite((model.loss,)):
        return
    where = "the loss" if bad is None else f"what {bad.op.type} keeps at {source.short(bad.loc)}"
    raise CommandError(
        f"{model.name} has been computed, and {where} is not finite: it was born forward, before the search",
        "begin the cell that computes it with %%gradtool nan, or put it into a file",
    )
