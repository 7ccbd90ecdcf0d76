"""``gradtool profile``: what forward and backward take."""

from __future__ import annotations

from typing import Any

import click

from gradtool.models.errors import CommandError
from gradtool.models.wording import command_line, count

from ..context import Output, model_options, output_options
from ..views import Report, Table


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
def command(**options: Any) -> None:
    """Measure MODEL's operators, forward and backward: median over the repeats, and their spread.

    \b
    gradtool profile model.py --by layer
    gradtool profile model.py --flame stacks.txt

    What is measured is the kernel or the gradient rule, without Python around it, after a run that does not count; of
    a branch or a loop of a program what stands around the operators inside, which are counted for themselves. The
    file runs once: in dynamic mode the operators of its last forward pass are called again on what they read.
    """
    out = Output.take(options)
    from gradtool.engine.answers import profile
    from gradtool.engine.core import watch
    from gradtool.models import loader, opening
    from gradtool.models.feeds import run
    from gradtool.models.loader import Request
    from gradtool.models.run_names import Names
    from gradtool.models.tape_model import TapeModel

    request = Request.take(options)
    calls = profile.Calls()
    with watch.watched(calls), loader.executed(request) as left, watch.unwatched():
        model = opening.model_in(left, request)
        eager = isinstance(model, TapeModel)
        if isinstance(model, TapeModel):
            if options["feed"]:
                raise CommandError(f"--feed works on static programs, and {model.name} works in dynamic mode")
            clock = profile.Clock()
            model.call(calls.measure, model.nodes, clock, options["repeats"])
            model.call(profile.of_tape, model.loss, clock, options["repeats"])
            shown = {e.tensor.leaf: e.shown for e in model.entries if e.tensor.is_leaf and not e.tensor.stop_gradient}
            profile.add_layers(clock.story().costs, model.nodes, shown)
            if left.live:
                out.note(f"{model.name} has been computed: the backward pass alone is measured")
        else:
            static: Any = model
            clock = profile.Clock()
            notes = [out, Output(quiet=True)]

            def once(fetch: Any) -> Any:
                return run(
                    static, fetch, options["feed"], "numpy", request.seed, notes.pop(0) if notes[1:] else notes[0]
                )

            profile.of_program(static.the_loss, clock, options["repeats"], once)
            profile.add_layers(clock.story().costs, ())
        story = clock.story()
        names = Names.of(model)
        for c in story.costs:
            c.name = names.operators.get(c.origin, c.name)
            c.run = names.within(c.inside)
        files = {options["flame"]: _stacks(story, model.name, options["flame"])} if options["flame"] else {}
        out.emit(_report(story, model.name, eager, options, request.words()), files)


def _stacks(story: Any, name: str, file: str) -> str:
    import json

    return json.dumps(story.speedscope(name), indent=1) + "\n" if file.endswith(".json") else str(story.flame())


def _report(story: Any, name: str, eager: bool, options: dict[str, Any], again: list[str]) -> Report:
    from gradtool.viz.bars import spark

    by = options["by"]
    groups = story.by(by)
    shown = groups[: options["top"]] if options["top"] else groups
    total = story.total
    table = Table([by, "calls", "time µs", "spread µs", "share", "repeats", "bytes"])
    rows = []
    for g in shown:
        share = g.median / total.median if total.median else 0.0
        table.rows.append(
            [
                g.name,
                str(g.calls),
                f"{1e6 * g.median:.1f}",
                f"{1e6 * g.spread:.1f}",
                f"{100 * share:.1f} %",
                spark(g.seconds),
                str(g.nbytes),
            ]
        )
        rows.append({"name": g.name, **_data(g), "share": share})
    last = (
        f"{len(shown)} of {count(len(groups), by)} · {1e6 * total.median:.1f} µs in {count(total.calls, 'op')} "
        f"(spread {1e6 * total.spread:.1f}) · {count(story.repeats, 'repeat')}"
    )
    data = {
        "model": name,
        "mode": "eager" if eager else "static",
        "by": by,
        "repeats": story.repeats,
        "total": _data(total),
        "groups": rows,
    }
    more = "line" if by != "line" else "op"
    next_ = [
        command_line("gradtool", "profile", *again, "--by", more),
        command_line("gradtool", "profile", *again, "--flame", "stacks.txt"),
    ]
    return Report("profile", data, [table, last], next_)


def _data(g: Any) -> dict[str, Any]:
    return {"calls": g.calls, "bytes": g.nbytes, "median": g.median, "spread": g.spread, "seconds": g.seconds}
