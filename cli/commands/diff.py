"""What differs between the graphs of two models, revisions or files."""

from __future__ import annotations

from typing import Any

import click

from ..asking import exit_option, judged
from ..computing import device_options
from ..context import Output, backward_options, loading_options, output_options
from ..meshes import mesh_option, on_replicas

_PICTURES = ("svg", "html")
_OF_TWO = ("checkpoints", "values", "resources", "backend", "against", "write_golden")
"""Options that are about two sides."""


def _outputs(command: Any) -> Any:
    return output_options(command, _PICTURES)


@click.command("diff")
@click.argument("sides", nargs=-1, required=True, metavar="BEFORE [AFTER]")
@loading_options
@device_options
@backward_options
@click.option("--checkpoints", multiple=True, metavar="SELECTOR|auto", help="What backward keeps, of static programs.")
@click.option("--values", is_flag=True, help="Run both and compare their values: what differs first, and how far.")
@click.option("--feed", metavar="FILE[ROWS]", help="Arrays to feed to both, by name.")
@click.option("--resources", is_flag=True, help="Measure what one step takes: operators, bytes kept, time.")
@click.option("--backend", metavar="NAME", help="What the kernels run on, of BEFORE or of both.")
@click.option("--against", metavar="BACKEND", help="What those of AFTER run on; one MODEL is compared with itself.")
@mesh_option
@click.option("--write-golden", metavar="FILE.gt.txt", help="Write the graph of AFTER as text that can be reviewed.")
@exit_option()
@_outputs
def command(**values: Any) -> int:
    """What differs between the graphs BEFORE and AFTER: operators, attributes, parameters, gradients.

    \b
    gradtool diff old.py new.py
    gradtool diff model.py@main model.py --exit-code
    gradtool diff model.py@v1.2
    gradtool diff old.py new.py --values
    gradtool diff graph.gt.txt model.py
    gradtool diff dumped/ model.py
    gradtool diff hunt.jsonl model.py --values
    gradtool diff model.py@main -o changes.svg
    gradtool diff model.py --backend numpy --against jax
    gradtool diff train.py --mesh data=8

    A side is a MODEL, FILE@REVISION for a file as git holds it, a saved program, a file of --write-golden, a folder of
    gradtool dump or dump_backward_graph_path, or a session that gradtool debug has saved. Of a file that backpropagates
    several losses each is compared, unless --backward says which. Names of files, lines and numbers in the names of
    operators count for nothing.

    With --mesh, one step of MODEL is computed as N processes of a data-parallel training would, each on its part of the
    rows: which operator then computes something else (batch normalisation, a mean over what is not as much in each
    part), which draws the same random numbers everywhere, and which gradient nobody sums.
    """
    out = Output.take(values)
    mesh = values.pop("mesh")
    if mesh is not None:
        return on_replicas(mesh, values, out, _OF_TWO)
    from gradtool.engine.core.wording import command_line
    from gradtool.engine.questions.diff import Diff
    from gradtool.engine.request.request import Request
    from gradtool.viz.views import diff

    sides, file, exit_code = values.pop("sides"), values.pop("write_golden"), values.pop("exit_code")
    form = _picture(out)
    question = Diff.take(values := {**values, "picture": form is not None})
    answer = question.ask(sides, Request.take({**values, "model": sides[-1]}), out)
    files = {file: answer.golden} if file is not None else {}
    if form is None:
        out.emit(diff.view(answer), files)
    else:
        words = [*sides, *question.words, "--format", form]
        out.text(diff.picture(answer, form, command_line("gradtool", "diff", *words)), files)
    return judged(answer, exit_code)


def _picture(out: Output) -> str | None:
    """The form of the picture that is asked for, by --format or the ending of the file; None for a text."""
    if out.format in _PICTURES:
        return out.format
    ending = (out.file or "").rpartition(".")[2].lower()
    return ending if ending in _PICTURES and out.format == "text" else None
