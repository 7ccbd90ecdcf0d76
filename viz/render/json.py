"""The graph as JSON, for other programs; the schema is ``cli/schemas/graph.json``."""

from __future__ import annotations

import json
from typing import Any

from gradtool.engine.view.graph import OP, GraphView, NodeView

from ..forms import Drawable

SCHEMA = "gradtool/graph/1"


def picture(subject: Drawable, form: str) -> str:
    """Of a :class:`~gradtool.viz.forms.Drawable`: JSON text."""
    return render(subject.view)


def render(view: GraphView) -> str:
    """The view as JSON text: sorted keys, pure ASCII, the same bytes for the same view."""
    return json.dumps(data(view), indent=2, sort_keys=True, allow_nan=False) + "\n"


def data(view: GraphView) -> dict[str, Any]:
    """The view as JSON values."""
    return {
        "schema": SCHEMA,
        "title": view.title,
        "part": view.part,
        "nodes": [_node(n) for n in view.nodes],
        "edges": [
            {
                "source": e.source,
                "target": e.target,
                "tensor": e.tensor,
                "slot": e.slot,
                "saved": e.saved,
                "shape_only": e.shape_only,
                "cut": e.cut or None,
            }
            for e in view.edges
        ],
        "blocks": [{"index": b.index, "parent": b.parent, "owner": b.owner} for b in view.blocks],
    }


def _node(n: NodeView) -> dict[str, Any]:
    return {
        "id": n.id,
        "kind": n.kind,
        "name": n.name,
        "type": n.type,
        "role": n.role,
        "part": n.part,
        "shape": None if n.kind == OP or n.shape is None else list(n.shape),
        "dtype": n.dtype,
        "pair": n.pair,
        "source": n.source or None,
        "scope": n.scope or None,
        "block": n.block,
        "count": n.count,
        "members": list(n.members),
        "mark": n.mark or None,
        "note": n.note or None,
    }
