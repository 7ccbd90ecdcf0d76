"""Ask one question many times: over feeds, rows of data, seeds, settings, models."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from ..backend_options import add_backend_options
from ..callbacks import call
from ..context import add_model_options, output_options
from ..help_pages import Command
from ..rare_options import RareOption
from ..rules import rule_options
from ..sizes import byte_size


@click.command("sweep", cls=Command)
@click.argument("question", metavar="QUESTION")
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option(
    "--over", multiple=True, metavar="FILE|GLOB", help="Feed these files of arrays, each as a whole; repeatable."
)
@click.option("--rows", metavar="FILE[:BATCH]", help="Feed a file of arrays row by row, or BATCH rows at a time.")
@click.option(
    "--dtype",
    cls=RareOption,
    type=click.Choice(["float16", "float32", "float64"]),
    help="Convert the floating numbers of the data; spreadsheets and Parquet hold float64.",
)
@click.option("--seeds", metavar="RANGE", help="Use each of these seeds: 0..999, or 1,5,9.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUES",
    help="Use each value of an argument: lr=1e-4..1e-1:log:20, lr=0..1:lin:5, width=1..8, lr=0.1,0.2; repeatable.",
)
@click.option("--models", "patterns", multiple=True, metavar="GLOB", help="Add these models to MODEL; repeatable.")
@add_model_options
@add_backend_options
@click.option(
    "--by", cls=RareOption, type=click.Choice(["parameter", "layer", "op"]), help="Choose what a line of stats is."
)
@click.option(
    "--big", cls=RareOption, type=float, metavar="LIMIT", help="Count numbers beyond LIMIT as overflow in nan."
)
@click.option(
    "--subnormal", cls=RareOption, is_flag=True, help="Count numbers that are too small for full precision in nan."
)
@click.option(
    "--order",
    cls=RareOption,
    type=click.IntRange(1, 2),
    help="Look at gradients of gradients in nan and gradcheck, with 2.",
)
@click.option(
    "--params",
    cls=RareOption,
    multiple=True,
    metavar="SELECTOR",
    help="Choose parameters for why and backward, as there.",
)
@click.option(
    "--no-grad", cls=RareOption, multiple=True, metavar="SELECTOR", help="Cut gradients for why and backward, as there."
)
@rule_options(RareOption, " in check")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Compute N points at a time, each in its own process; 1: one after the other in this one.",
)
@click.option(
    "--scheduler", cls=RareOption, metavar="ADDRESS", help="Use the workers of a Dask cluster: tcp://host:8786."
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Stop a point after so many seconds; points then run in their own processes.",
)
@click.option(
    "--memory",
    metavar="BYTES",
    callback=byte_size,
    help="Stop a point that takes more, such as 2G; points then run in their own processes.",
)
@click.option("--results", metavar="FILE.jsonl", help="Write a line of JSON for each point as it comes; - is stdout.")
@click.option("--resume", is_flag=True, help="Continue with what --results has, and skip the points that are there.")
@partial(output_options, more=("jsonl", "csv", "svg", "html"))
def command(**values: Any) -> int:
    """Ask QUESTION (nan, stats, why, gradcheck, check, backward, saved) of MODEL at many points, and compare them.

    \b
    gradtool sweep nan model.py --rows data.npz:256 --jobs 8
    gradtool sweep stats model.py --rows data.npz -o outliers.html
    gradtool sweep stats model.py --seeds 0..99 --results seeds.jsonl
    gradtool sweep nan model.py --set lr=1e-4..1e-1:log:20 -o lr.svg
    gradtool sweep why --models 'zoo/*.py'
    gradtool sweep nan train.py --set lr=0.1,0.2 -- --lr {lr}

    Every model, setting, seed and portion of the data is combined with every other. Arrays are fed to programs by their
    names, and are arguments of a function of dynamic mode. Settings are arguments of the function, or {NAME} among the
    words of a script. Rows are the same bytes whatever the number of workers; sort orders them.

    Exit code 1: a point has a finding. 4: no point has one, but one has no answer. 130: Ctrl-C; the points that were
    done are printed.
    """
    return call("sweep", values)
