"""``gradtool debug``: the notebook-style debugger."""

from __future__ import annotations

from typing import Any

import click

from ..context import Output, backward_options, model_options
from ..errors import CommandError
from ..sizes import byte_size


@click.command("debug")
@model_options
@backward_options
@click.option("--feed", metavar="FILE.npz", help="Arrays to feed, by name.")
@click.option("--catch", multiple=True, metavar="KIND", help="Stop at nan, inf, big=1e4, zero or none; repeatable.")
@click.option(
    "--break", "break_", multiple=True, metavar="WHERE", help="Stop before op:T, VAR, line:F:N or layer:L; repeatable."
)
@click.option("--watch", multiple=True, metavar="EXPR", help="Stop where the value of EXPR changes; repeatable.")
@click.option("--step", type=click.IntRange(1), metavar="N", help="Which backward pass of a training file (see above).")
@click.option("--on-error", is_flag=True, help="Post-mortem: begin at the operator that failed.")
@click.option(
    "--history",
    metavar="SIZE",
    callback=byte_size,
    help="Bytes of values to hold, e.g. 512M; others are computed again.",
)
@click.option("-x", "scripts", multiple=True, metavar="FILE", help="Carry out the lines of FILE first; repeatable.")
@click.option("--batch", is_flag=True, help="No prompt: exit with 1 if a catch fires or an expect fails.")
@click.option("-q", "--quiet", is_flag=True, help="No notes on stderr.")
@click.option("-v", "--verbose", count=True, help="More detail.")
def command(**options: Any) -> int:
    """Walk through the backward pass of MODEL with its values, forwards and backwards; change them, and go on.

    \b
    gradtool debug model.py --catch nan
    gradtool debug train.py --step 3
    gradtool debug model.py --on-error
    gradtool debug model.py --batch -x hunt.gdt

    What stands at the prompt is a verb (help lists them) or Python. Without a terminal, verbs are read from stdin.

    Of a file that trains, the last backward pass is recorded, or with --step the Nth. With --catch it is the first one
    in which nan, inf, big or zero is found. If the file runs no backward pass, one is run. What is changed in a session
    changes nothing in the model.

    With --on-error the session begins where the file or its backward pass raised, at the operator that failed (marked
    !). The variables of the function that called it are in scope.
    """
    out = Output(quiet=options.pop("quiet"), verbose=options.pop("verbose"))
    scripts, batch, on_error = options.pop("scripts"), options.pop("batch"), options.pop("on_error")
    if on_error and options["step"] is not None:
        raise CommandError("--on-error and --step exclude each other: the pass that failed is recorded")
    if options["model"].partition(":")[0] == "-" and not (batch and scripts):
        raise CommandError("the verbs are read from stdin, so the model cannot be", "with --batch -x FILE it can")
    lines = [line for file in scripts for line in _read(file)]
    from ..debugging import opened
    from ..loader import Request

    request = Request.take(options, full_stacks=True, post_mortem=on_error)
    with opened(request, options, out) as book:
        from gradtool.viz.debugger import batch as scripted
        from gradtool.viz.debugger import terminal

        if batch and not scripts:
            import sys

            return scripted.run_script(book, sys.stdin, batch)
        code = scripted.run_script(book, lines, batch) if scripts else 0
        return code if batch or book.finished else terminal.interact(book)


def _read(file: str) -> list[str]:
    from pathlib import Path

    try:
        return Path(file).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise CommandError(f"cannot read {file}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise CommandError(f"{file} is no text in UTF-8") from None
