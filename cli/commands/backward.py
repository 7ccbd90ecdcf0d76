"""List every parameter with its gradient, or the reason why it has none."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ..asking import ask, exit_option, find_exit_code, must_be_one, prepare_others
from ..context import Output, backward_options, model_options, output_options, run_options
from ..errors import CLEAN
from ..files import Content, make_folder
from ..help_pages import Command
from ..rare import RareOption
from ..sizes import byte_size

if TYPE_CHECKING:
    from gradtool.engine.kinds.model import ModelGraph


@click.command("backward", cls=Command)
@model_options
@backward_options
@click.option(
    "--callbacks",
    cls=RareOption,
    multiple=True,
    metavar="MOD:FN",
    help="Call FN(block, context) for each new operator; repeatable.",
)
@click.option(
    "--checkpoints",
    multiple=True,
    metavar="SELECTOR|auto",
    help="Keep these tensors, and compute the others before the last of them again.",
)
@click.option(
    "--memory-budget",
    cls=RareOption,
    metavar="BYTES",
    callback=byte_size,
    help="Choose checkpoints so that values and gradients fit into BYTES, such as 512M.",
)
@run_options
@click.option("--only-grads", cls=RareOption, is_flag=True, help="Print exactly the list that append_backward returns.")
@click.option("--dot", metavar="FILE", help="Write the graph to FILE for Graphviz.")
@click.option(
    "--part", cls=RareOption, type=click.Choice(["fwd", "bwd", "both"]), default="both", help="Choose what --dot draws."
)
@click.option("--dump", metavar="DIR", help="Write both graphs and the stack of every operator to DIR.")
@click.option("--list", "listed", is_flag=True, help="List the backward passes of MODEL, and stop there.")
@exit_option()
@output_options
def command(**values: Any) -> int:
    """Append the backward part of MODEL's loss. List every parameter with its gradient, or the reason why it has none.

    \b
    gradtool backward model.py --no-grad my_fc.b_0
    gradtool backward model.py --params '*.w_0' --run
    gradtool backward model.py:build --arg n=3 --dot graph.dot
    gradtool backward model.py --checkpoints auto --memory-budget 64M
    gradtool backward train.py --list

    In dynamic mode the loss is a Tensor, the rows are its leaves, and norms are always shown. The source of a leaf is
    the line that made it; where that is not known, it is the first line that used it.
    """
    out = Output.take(values)
    if values.pop("listed"):
        return _list(values, out)
    from gradtool.engine.questions.backward import Backward
    from gradtool.engine.request.request import Request
    from gradtool.viz.views import backward

    dot, folder, part, only_grads = (values.pop(name) for name in ("dot", "dump", "part", "only_grads"))
    exit_code = values.pop("exit_code")
    values["run"] |= exit_code or values["feed"] is not None  # zeros and numbers that are not finite are findings, too
    question = Backward.take(values)
    request = Request.take(values, full_stacks=folder is not None)
    if dot is None and folder is None and not only_grads:
        code = partial(find_exit_code, exit_code=exit_code)
        return ask(question, request, out, backward.view, code, exit_code, explained=True)
    must_be_one(request, "--dot, --dump and --only-grads")
    with prepare_others(request, question.feed, exit_code) as look:
        answer = question.ask(request, out)
    look(answer)
    words = [*answer.about.words, *question.words, *answer.checkpoint_words]
    files = pictures(answer.graph, words, dot, part, folder)
    if only_grads:
        out.text(backward.pairs_alone(answer, out.format), files)
    else:
        out.emit(backward.view(answer), files)
    return find_exit_code(answer, exit_code)


def _list(values: dict[str, Any], out: Output) -> int:
    """``--list``."""
    from gradtool.engine.questions.calls import list_calls
    from gradtool.engine.request.request import Request
    from gradtool.viz.views import calls

    out.emit(calls.view(list_calls(Request.take(values), out)))
    return CLEAN


def pictures(
    graph: Callable[[], ModelGraph], words: list[str], dot: str | None, part: str, folder: str | None
) -> dict[str, Content]:
    """The files that ``--dot`` and ``--dump`` ask for.

    Args:
        words: those that ask again about the same model.
    """
    files: dict[str, Content] = {}
    if dot is not None:
        from gradtool.viz.views.picture import as_dot

        files[dot] = as_dot(graph(), "graph.dot" if dot == "-" else dot, part, words)
    if folder is not None:
        from gradtool.viz.views import dump

        make_folder(folder)
        files |= dump.files(graph(), folder)
    return files
