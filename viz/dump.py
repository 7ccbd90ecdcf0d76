"""The trio that ``dump_backward_graph_path`` writes: two graphs and the user's stacks.

As Paddle names the files, but with stable ids in place of pointers, names that every file system takes, parameter names
on the nodes, a stack for every operator without any flag, the graph as data, and a manifest for each dump.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import gradtool
from gradtool.engine.answers.diff import of_tape, outline_json
from gradtool.engine.answers.diff.outline import Outline
from gradtool.engine.core import source
from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.source import Location
from gradtool.engine.core.wording import plain
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.files import confined_paths
from gradtool.engine.ir.program import Program
from gradtool.engine.view import from_tape
from gradtool.engine.view.graph import BACKWARD, FORWARD, OP, GraphView, NodeView

from .mirror.layout import mirror
from .render import dot
from .text import printable
from .writing import new_files

BACKWARD_GRAPH = "backward_graph.dot"
FORWARD_GRAPH = "ref_forward_graph.dot"
CALL_STACK = "call_stack.log"
MANIFEST = "manifest.json"
GRADIENTS = "grads.npz"
SCHEMA = "gradtool/dump/1"


class DumpPathError(UsageError, AssertionError, TypeError):
    """The path of a dump is no str (Paddle raises AssertionError)."""


class DumpFolderError(UsageError, OSError):
    """A dump cannot be written to its folder (an OSError, as in Paddle)."""


class NotAFolderError(DumpFolderError, NotADirectoryError):
    """The path of a dump is a file (a NotADirectoryError, as in Paddle)."""


def files(program: Program, view: GraphView, facts: Mapping[str, Any], stamp: str = "") -> dict[str, str]:
    """File name -> text, for a static program.

    Args:
        view: the graph of *program*.
        facts: what the manifest says beside the list of files.
        stamp: stands before every name; without one, a second dump replaces the first and the two can be compared.
    """
    return texts(view, [op.loc for block in program.blocks for op in block.ops], facts, stamp)


def texts(
    view: GraphView,
    locations: Iterable[Location],
    facts: Mapping[str, Any],
    stamp: str = "",
    *,
    whole: bool = True,
    outline: Outline | None = None,
) -> dict[str, str]:
    """File name -> text, for any graph.

    Args:
        facts: what the manifest says; its ``files`` are those that are written beside these.
        locations: one for each operator of the view, in the same order.
        whole: whether locations are whole stacks; otherwise the log says that they are the innermost frames.
        outline: the graph as ``gradtool diff`` reads it, for a file of its own.
    """
    contents = {
        f"{stamp}{BACKWARD_GRAPH}": dot.render(mirror(view.only(BACKWARD)), file=f"{stamp}{BACKWARD_GRAPH}"),
        f"{stamp}{FORWARD_GRAPH}": dot.render(mirror(view.only(FORWARD)), file=f"{stamp}{FORWARD_GRAPH}"),
        f"{stamp}{CALL_STACK}": "\n".join(_stacks(view, list(locations), whole)) + "\n",
    }
    if outline is not None:
        contents[f"{stamp}{outline_json.ENDING}"] = outline_json.write(outline)
    manifest = {**facts, "files": sorted([*contents, *facts.get("files", ())])}
    contents[f"{stamp}{MANIFEST}"] = json.dumps(manifest, indent=2, sort_keys=True, allow_nan=False) + "\n"
    return contents


def _stacks(view: GraphView, locations: Sequence[Location], whole: bool) -> Iterator[str]:
    """Every operator with the user's frames, outermost first; a gradient operator has those of its forward one."""
    by_id = view.by_id()
    nodes = [n for n in view.nodes if n.kind == OP]
    yield f"# {printable(view.title)}: where each operator comes from. The ids are those of the graphs."
    if not whole and all(len(where) <= 1 for where in locations):
        yield "# One frame each, the line that called the operator; `gradtool graph --dump` keeps whole stacks."
    for node, where in zip(nodes, locations, strict=True):
        yield ""
        yield f"{node.id} {node.name}{_pair_note(node, by_id)}"
        frames = list(source.stack(where))
        yield from (f"  {line}" for line in frames or ["(not made by a line of the user's)"])


def _pair_note(node: NodeView, by_id: Mapping[str, NodeView]) -> str:
    if node.part != BACKWARD or node.pair is None:
        return ""
    return f"  (gradient of {node.pair} {by_id[node.pair].name})"


# -- dynamic mode -----------------------------------------------------------------------------------------------------


def tape_facts(graph: from_tape.TapeGraph, model: str) -> dict[str, Any]:
    """Return the manifest's facts about a graph of dynamic mode."""
    view = graph.view
    by_id = view.by_id()
    parts = [n.part for n in view.nodes if n.kind == OP]
    losses = [n.name for n in view.nodes if n.role == "loss"]
    pairs = [[by_id[n.pair].name, n.name] for n in view.nodes if n.role == "gradient" and n.pair is not None]
    return {
        "schema": SCHEMA,
        "gradtool": gradtool.__version__,
        "mode": "eager",
        "model": model,
        "loss": losses[0] if len(losses) == 1 else None,
        "operators": {"forward": parts.count(FORWARD), "backward": parts.count(BACKWARD)},
        "pairs": pairs,
    }


def check_folder(path: Any) -> str:
    """*path*, if it is a folder that can be written to; it is made, with its parents, when it is missing.

    Raises:
        DumpPathError: it is no str (an AssertionError and TypeError).
        NotAFolderError: it, or one of its parents, is a file (a NotADirectoryError).
        DumpFolderError: it cannot be made or written to, or is empty (an OSError).
    """
    if not isinstance(path, str):
        raise DumpPathError(
            f"dump_backward_graph_path: path must be string type, but received {type(path).__name__}.",
            hint="str(path) or os.fsdecode(path)",
        )
    if not path:
        raise DumpFolderError("dump_backward_graph_path: the path is empty.", hint="'.' is the current folder")
    try:
        confined_paths.make_folder(path)
    except (FileExistsError, NotADirectoryError):
        raise NotAFolderError(
            f"dump_backward_graph_path: path:'{path}' must be directory, but there is a file of that name."
        ) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise DumpFolderError(f"dump_backward_graph_path: cannot make the folder '{path}': {reason}.") from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise DumpFolderError(f"dump_backward_graph_path: the folder '{path}' may not be written to.")
    return path


def dump_tape(tensors: Sequence[Tensor], path: str) -> list[str]:
    """Write the graph behind *tensors* to the folder *path*, before anything is computed with it.

    Five files share a stamp, the local time: ``20261121-021025-964643_backward_graph.dot``,
    ``…_ref_forward_graph.dot``, ``…_call_stack.log``, ``…_outline.json``, which ``gradtool diff`` reads, and
    ``…_manifest.json``, which lists the others. All are written
    or none, and no earlier dump is ever replaced. Tensors with ``stop_gradient`` have no graph: for those alone nothing
    is written.

    Args:
        tensors: the targets of backward.
        path: the folder, made with its parents when it is missing.

    Returns:
        The paths of the files.

    Raises:
        DumpPathError, NotAFolderError, DumpFolderError: see :func:`check_folder`.
    """
    folder = check_folder(path)
    if all(t.stop_gradient for t in tensors):
        return []
    called = source.short(source.here()) or "backward"
    graph = from_tape.graph(tensors, title=called)
    facts = tape_facts(graph, called)
    outline = of_tape.outline(graph, called, plain)

    def contents(stamp: str) -> dict[str, str]:
        return texts(graph.view, graph.locations, facts, stamp, whole=False, outline=outline)

    try:
        return new_files(folder, stamps(), contents)
    except OSError as error:
        raise DumpFolderError(
            f"dump_backward_graph_path: cannot write to '{path}': {error.strerror or error}."
        ) from None


def stamps() -> Iterator[str]:
    """The local time as the beginning of file names, again and again: the same one never comes twice."""
    before = ""
    while True:
        stamp = datetime.now().strftime("%Y%m%d-%H%M%S-%f_")
        if stamp != before:
            yield stamp
        before = stamp
