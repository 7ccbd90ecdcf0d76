"""``gradtool dump``: both graphs and the user's stack of every operator."""

from __future__ import annotations

import os
from typing import Any

import click

from gradtool.models.wording import command_line

from ..context import Output, backward_options, model_options, output_options
from ..files import Content, encoded
from ..views import Report, Table


@click.command("dump")
@model_options
@click.argument("folder", metavar="DIR")
@backward_options
@click.option("--grads", is_flag=True, help="Also grads.npz: the gradients of one run, by the names of the parameters.")
@click.option("--feed", metavar="FILE.npz", help="Arrays to feed, by name; implies --grads.")
@click.option("--stamp", is_flag=True, help="Put the time before the names, so that nothing is replaced.")
@output_options
def command(**options: Any) -> None:
    """Write backward_graph.dot, ref_forward_graph.dot, call_stack.log and manifest.json for MODEL to DIR.

    Two dumps of one model are the same files, so that `diff -r` shows what a change to the model changed.
    """
    out = Output.take(options)
    from gradtool.models import opening
    from gradtool.models.loader import Request
    from gradtool.models.tape_model import TapeModel

    folder = options["folder"]
    stamp = _stamp() if options["stamp"] else ""
    request = Request.take(options, journal=True, full_stacks=True)
    with opening.opened(request) as model:
        if isinstance(model, TapeModel):
            forward, backward, files = _eager(model, options, folder, stamp, out)
        else:
            forward, backward, files = _static(model, options, folder, stamp, out, request.seed)
        names = [path[len(folder) :].lstrip("/\\") for path in files]
        sizes = [str(len(encoded(content))) for content in files.values()]
        table = Table(["file", "bytes"], [list(row) for row in zip(names, sizes, strict=True)])
        head = f"dump  {model.name} · {forward} forward ops · {backward} backward ops → {folder}"
        data = {"model": model.name, "files": dict(zip(names, map(int, sizes), strict=True))}
        graph_file = next(n for n in names if n.endswith(".dot"))
        drawn = command_line("neato", "-n2", "-Tsvg", f"{folder.rstrip('/')}/{graph_file}", "-O")
        out.emit(Report("dump-files", data, [head, table], [drawn]), files)


Dumped = tuple[int, int, dict[str, Content]]
"""The numbers of forward and backward operators, and the files by path."""


def _static(model: Any, options: dict[str, Any], folder: str, stamp: str, out: Output, seed: int) -> Dumped:
    from gradtool.engine.view.from_program import view
    from gradtool.models import backward_part

    from ..dumping import dump_files

    part = backward_part.append(model, options["params"], options["no_grad"], out)
    graph = view(model.program, title=model.name, loss=model.loss, gradients=dict(part.pairs))
    also: dict[str, Content] = {}
    if options["grads"] or options["feed"]:
        from gradtool.models.feeds import run

        arrays = run(model, [g for _, g in part.pairs], options["feed"], "numpy", seed, out)
        also = _gradients({p.name: a for (p, _), a in zip(part.pairs, arrays, strict=True)}, stamp)
    files: dict[str, Content] = {**dump_files(model, part, graph, folder, stamp, [*also])}
    return part.forward, part.backward, files | {os.path.join(folder, n): c for n, c in also.items()}


def _eager(model: Any, options: dict[str, Any], folder: str, stamp: str, out: Output) -> Dumped:
    from gradtool.models.errors import CommandError
    from gradtool.models.tape_model import recorded

    from ..eager_files import dump_files, refuse_selectors
    from ..eager_table import run

    refuse_selectors(options)
    if options["feed"]:
        raise CommandError(f"--feed works on static programs, and {model.name} works in dynamic mode")
    graph = recorded(model)
    also: dict[str, Content] = {}
    if options["grads"]:
        arrays = run(model, (), (), out).arrays
        also = _gradients({e.shown: arrays[e.tensor] for e in model.entries if e.tensor in arrays}, stamp)
    files: dict[str, Content] = {**dump_files(graph, model.name, folder, stamp, [*also])}
    count = len(model.nodes)
    return count, count, files | {os.path.join(folder, n): c for n, c in also.items()}


def _gradients(arrays: dict[str, Any], stamp: str) -> dict[str, Content]:
    from gradtool.viz.dump import GRADIENTS

    from ..dumping import gradients_file

    return {f"{stamp}{GRADIENTS}": gradients_file(arrays)}


def _stamp() -> str:
    """The local time without colons, which are not allowed in every file system."""
    from gradtool.viz.dump import stamps

    return next(stamps())
