"""Step through the backward pass with its values, forwards and backwards."""

from __future__ import annotations

from typing import Any

import click

from ..backend_options import add_backend_options
from ..callbacks import call
from ..context import add_model_options, ascii_option, backward_options, color_option, feed_option, note_options
from ..help_pages import Command
from ..rare_options import RareOption
from ..sizes import byte_size


@click.command("debug", cls=Command)
@click.argument("model", required=False)
@add_model_options
@add_backend_options
@backward_options
@feed_option
@click.option("--catch", multiple=True, metavar="KIND", help="Stop at nan, inf, big=1e4, zero or none; repeatable.")
@click.option(
    "--break", "break_", multiple=True, metavar="WHERE", help="Stop before op:T, VAR, line:F:N or layer:L; repeatable."
)
@click.option("--watch", multiple=True, metavar="EXPR", help="Stop where the value of EXPR changes; repeatable.")
@click.option("--step", type=click.IntRange(1), metavar="N", help="Record the Nth backward pass.")
@click.option("--on-error", is_flag=True, help="Begin at the operator that failed.")
@click.option(
    "--history",
    cls=RareOption,
    metavar="SIZE",
    callback=byte_size,
    help="Hold so many bytes of values, such as 512M, and compute others again.",
)
@click.option("-x", "scripts", multiple=True, metavar="FILE", help="Run the lines of FILE first; repeatable.")
@click.option(
    "--batch",
    is_flag=True,
    help="Run without a prompt, and exit with 1 if a catch fires or an expect fails.",
)
@click.option("--replay", metavar="FILE.jsonl", help="Continue a saved session; MODEL is not needed.")
@click.option("--check", is_flag=True, help="Run the cells of --replay again, and exit with 1 if one differs.")
@click.option("--trust", is_flag=True, help="Evaluate the expressions in the session of --replay.")
@color_option
@ascii_option
@note_options
def command(**values: Any) -> int:
    """Step through the backward pass of MODEL, forwards and backwards. Look at values, change them, and continue.

    \b
    gradtool debug model.py --catch nan
    gradtool debug train.py --step 3
    gradtool debug model.py --on-error
    gradtool debug model.py --batch -x hunt.gdt
    gradtool debug --replay hunt.jsonl --check

    Type a verb (help lists them) or Python at the prompt. Without a terminal, verbs are read from stdin. In a notebook
    every verb is a magic with a g in front: %gstep.

    If the file trains, the last backward pass is recorded, or the Nth with --step. With --catch it is the first one in
    which nan, inf, big or zero is found. If the file runs no backward pass, one is run. Changes in a session change
    nothing in the model.

    --replay continues a session that the verb save has saved, without the model. With --check its cells run again, on
    what was saved or on MODEL, and are compared.

    A saved session is data: the model that it names is not loaded. Expressions in it (watches, conditions, Python and
    verbs in cells) are evaluated only with --trust, or if you agree when a terminal shows them. --check stops at the
    first cell that evaluates something, and exits with 2.

    With --batch, stops and no verbs, the session continues by itself. With --on-error it begins at the operator that
    failed (marked !), with the variables of the function that called it.
    """
    return call("debug", values)
