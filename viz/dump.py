"""The trio that ``dump_backward_graph_path`` writes: two graphs and the user's stacks.

As Paddle names the files, but with stable ids in place of pointers, parameter names on the nodes, and a stack for every
operator without any flag.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gradtool.engine import source
from gradtool.engine.ir.program import Program
from gradtool.engine.view import BACKWARD, FORWARD, OP, GraphView

from .render import dot
from .text import printable

BACKWARD_GRAPH = "backward_graph.dot"
FORWARD_GRAPH = "ref_forward_graph.dot"
CALL_STACK = "call_stack.log"
MANIFEST = "manifest.json"


def files(program: Program, view: GraphView, facts: Mapping[str, Any], stamp: str = "") -> dict[str, str]:
    """File name -> text.

    Args:
        view: the graph of *program*.
        facts: what the manifest says beside the list of files.
        stamp: stands before every name; without one, a second dump replaces the first and the two can be compared.
    """
    texts = {
        f"{stamp}{BACKWARD_GRAPH}": dot.render(view.only(BACKWARD), file=f"{stamp}{BACKWARD_GRAPH}"),
        f"{stamp}{FORWARD_GRAPH}": dot.render(view.only(FORWARD), file=f"{stamp}{FORWARD_GRAPH}"),
        f"{stamp}{CALL_STACK}": "\n".join(_stacks(program, view)) + "\n",
    }
    manifest = {**facts, "files": sorted(texts)}
    texts[f"{stamp}{MANIFEST}"] = json.dumps(manifest, indent=2, sort_keys=True, allow_nan=False) + "\n"
    return texts


def _stacks(program: Program, view: GraphView) -> Iterator[str]:
    """Every operator with the user's frames, outermost first; a gradient operator has those of its forward one."""
    by_id = view.by_id()
    nodes = (n for n in view.nodes if n.kind == OP)
    yield f"# {printable(view.title)}: where each operator comes from. The ids are those of the graphs."
    for block in program.blocks:
        for op, node in zip(block.ops, nodes, strict=False):
            of = f"  (gradient of {node.pair} {by_id[node.pair].name})" if node.pair is not None else ""
            yield ""
            yield f"{node.id} {node.name}{of}"
            frames = list(source.stack(op.loc))
            yield from (f"  {line}" for line in frames or ["(not made by a line of the user's)"])
