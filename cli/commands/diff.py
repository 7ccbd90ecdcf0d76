"""Compare the graphs of two models, revisions or files, and their values."""

from __future__ import annotations

from typing import Any

import click

from ..backend_options import device_options
from ..callbacks import call
from ..context import add_model_options, backward_options, exit_option, mesh_option, output_options
from ..help_pages import Command

PICTURES = ("svg", "html")


def _outputs(command: Any) -> Any:
    return output_options(command, PICTURES)


@click.command("diff", cls=Command)
@click.argument("sides", nargs=-1, required=True, metavar="BEFORE [AFTER]")
@add_model_options
@device_options
@backward_options
@click.option(
    "--checkpoints", multiple=True, metavar="SELECTOR|auto", help="Keep these tensors in backward, in static programs."
)
@click.option("--values", is_flag=True, help="Run both and compare their values: what differs first, and by how much.")
@click.option("--feed", metavar="FILE[ROWS]", help="Feed the arrays in FILE to both, by their names.")
@click.option("--resources", is_flag=True, help="Measure what one step costs: operators, bytes kept, time.")
@click.option("--backend", metavar="NAME", help="Choose what computes BEFORE, or both.")
@click.option(
    "--against", metavar="BACKEND", help="Choose what computes AFTER; one MODEL is then compared with itself."
)
@mesh_option
@click.option("--write-golden", metavar="FILE.gt.txt", help="Write the graph of AFTER as text for reviews.")
@exit_option()
@_outputs
def command(**values: Any) -> int:
    """Compare the graphs BEFORE and AFTER: operators, attributes, parameters, gradients.

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

    A side is a MODEL, FILE@REVISION for a file as git holds it, or a saved program. It may also be a file of
    --write-golden, a folder of gradtool graph --dump, or a session that gradtool debug has saved. If a file
    backpropagates several losses, each is compared unless --backward chooses one. Names of files, lines, and numbers in
    the names of operators are ignored.

    With --mesh, one step of MODEL is computed as N processes of a data-parallel training would, each on its part of the
    rows. The answer names operators that then compute something else, such as batch normalisation or a mean over parts
    of unequal size. It names those that draw the same random numbers everywhere, and gradients that nobody sums.
    """
    return call("diff", values)
