"""``gradtool dump``: both graphs and the user's stack of every operator."""

from __future__ import annotations

from typing import Any

import click

from ..context import Output, backward_options, command_line, model_options, output_options
from ..views import Report, Table


@click.command("dump")
@model_options
@click.argument("folder", metavar="DIR")
@backward_options
@click.option("--stamp", is_flag=True, help="Put the time before the names, so that nothing is replaced.")
@output_options
def command(**options: Any) -> None:
    """Write backward_graph.dot, ref_forward_graph.dot, call_stack.log and manifest.json for MODEL to DIR.

    Two dumps of one model are the same files, so that `diff -r` shows what a change to the model changed.
    """
    out = Output.take(options)
    from .. import discovery
    from ..eager_model import EagerModel
    from ..loader import Request

    folder = options["folder"]
    stamp = _stamp() if options["stamp"] else ""
    with discovery.either(Request.take(options, full_stacks=True)) as model:
        if isinstance(model, EagerModel):
            forward, backward, files = _eager(model, options, folder, stamp)
        else:
            forward, backward, files = _static(model, options, folder, stamp, out)
        names = [path[len(folder) :].lstrip("/\\") for path in files]
        sizes = [str(len(text.encode("utf-8", "backslashreplace"))) for text in files.values()]
        table = Table(["file", "bytes"], [list(row) for row in zip(names, sizes, strict=True)])
        head = f"dump  {model.name} · {forward} forward ops · {backward} backward ops → {folder}"
        data = {"model": model.name, "files": dict(zip(names, map(int, sizes), strict=True))}
        graph_file = next(n for n in names if n.endswith(".dot"))
        drawn = command_line("dot", "-Tsvg", f"{folder.rstrip('/')}/{graph_file}", "-O")
        out.emit(Report("dump-files", data, [head, table], [drawn]), files)


def _static(
    model: Any, options: dict[str, Any], folder: str, stamp: str, out: Output
) -> tuple[int, int, dict[str, str]]:
    from gradtool.viz.from_program import view

    from .. import backward_part
    from ..dumping import dump_files

    part = backward_part.append(model, options["params"], options["no_grad"], out)
    graph = view(model.program, title=model.name, loss=model.loss, gradients=dict(part.pairs))
    return part.forward, part.backward, dump_files(model, part, graph, folder, stamp)


def _eager(model: Any, options: dict[str, Any], folder: str, stamp: str) -> tuple[int, int, dict[str, str]]:
    from ..eager_files import dump_files, refuse_selectors
    from ..eager_table import recorded

    refuse_selectors(options)
    graph = recorded(model)
    return len(model.nodes), len(model.nodes), dump_files(graph, model.name, folder, stamp)


def _stamp() -> str:
    """The local time without colons, which are not allowed in every file system."""
    from gradtool.viz.dump import stamps

    return next(stamps())
