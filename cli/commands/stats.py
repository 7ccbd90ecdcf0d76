"""Print the sizes of gradients, and find those that vanish or explode."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from gradtool.engine.core.command_errors import CommandError

from ..asking import ask, exit_option, find_exit_code, must_be_one
from ..context import Output, feed_option, model_options, output_options
from ..files import Content, make_folder, write_all
from ..help_pages import Command
from ..meshes import ask_on_replicas, mesh_option

if TYPE_CHECKING:
    from gradtool.engine.questions.over_time import Training


_OF_ONE_DEVICE = ("by", "worst", "histogram", "tensorboard", "steps")
"""Options that do not go with --mesh."""


@click.command("stats", cls=Command)
@model_options
@click.option(
    "--by", type=click.Choice(["parameter", "layer", "op"]), help="Choose what a row is.  [default: parameter]"
)
@click.option("--worst", type=click.IntRange(1), metavar="N", help="Print only the N rows to look at first.")
@click.option("--histogram", is_flag=True, help="Count the elements of each order of magnitude.")
@feed_option
@click.option("--tensorboard", metavar="DIR", help="Write an event file for TensorBoard into DIR; needs --steps.")
@mesh_option
@exit_option()
@partial(output_options, more=("csv", "svg"))
def command(**values: Any) -> int:
    """Print the norms of MODEL's gradients, their ratios to the weights, zeros, and numbers that are not finite.

    \b
    gradtool stats model.py --worst 10
    gradtool stats model.py --by layer --histogram
    gradtool stats model.py --mesh data=8

    With --steps, print how all of this changes over the steps of a training, and what began at which step:

    \b
    gradtool stats train.py --steps 50
    gradtool stats train.py --steps 50 -o heat.svg
    gradtool stats train.py --steps 50 -o steps.parquet --tensorboard runs/first
    """
    out = Output.take(values)
    mesh = values.pop("mesh")
    if mesh is not None:
        return ask_on_replicas(mesh, {**values, "params": (), "no_grad": ()}, out, _OF_ONE_DEVICE)
    if values["steps"] is not None:
        return _show_training(values, out)
    folder, form = values.pop("tensorboard"), _form(out)
    if folder is not None or form is not None:
        what = "--tensorboard" if folder is not None else f"a file {form}"
        raise CommandError(f"{what} holds the steps of a training", "add --steps N")
    from gradtool.engine.questions.stats import Stats
    from gradtool.engine.request.request import Request
    from gradtool.viz.views import stats

    exit_code = values.pop("exit_code")
    values["by"] = values["by"] or "parameter"
    question = Stats.take(values)
    code = partial(find_exit_code, exit_code=exit_code)
    return ask(question, Request.take(values), out, stats.view, code, exit_code, explained=True)


def _show_training(values: dict[str, Any], out: Output) -> int:
    """The answer over the steps of a training."""
    from gradtool.engine.questions.over_time import OverTime
    from gradtool.engine.request.request import Request
    from gradtool.viz.views import over_time

    exit_code, folder = values.pop("exit_code"), values.pop("tensorboard")
    for option in ("worst", "histogram", "feed"):
        if values.pop(option):
            raise CommandError(f"--{option} is about one backward pass", "omit --steps")
    question = OverTime.take(values)
    request = Request.take(values)
    must_be_one(request, "--steps")
    answer = question.ask(request, out)
    also = {} if folder is None else _event_file(answer, folder)
    form = _form(out)
    if form is None:
        out.emit(over_time.view(answer), also)
    else:
        _write(answer, form, out, also)
    return find_exit_code(answer, exit_code)


def _form(out: Output) -> str | None:
    """The ending of the file that is asked for, if it is one that only trainings have."""
    if out.format in ("csv", "svg"):
        return f".{out.format}"
    ending = os.path.splitext(out.file or "")[1].lower()
    return ending if out.format == "text" and ending in (".csv", ".svg", ".parquet") else None


def _write(answer: Training, form: str, out: Output, also: Mapping[str, Content]) -> None:
    """Write the answer in a form that is no view."""
    from gradtool.viz.over_time.forms import FORMS

    content = FORMS[form](answer)
    if isinstance(content, str):
        out.text(content, also)
    else:
        assert out.file is not None  # its ending says the form
        write_all({**also, out.file: content})


def _event_file(answer: Training, folder: str) -> dict[str, Content]:
    """Path -> contents of the event file."""
    from gradtool.viz.over_time.event_files import NAME, event_file

    content = event_file(answer)
    make_folder(folder)
    return {os.path.join(folder, NAME): content}
