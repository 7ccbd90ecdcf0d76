"""Selectors over what a picture shows, in both modes alike: ids, names, globs, ``op:``, ``layer:``, ``line:``."""

from __future__ import annotations

import fnmatch

from gradtool.engine.core import names
from gradtool.engine.view.graph import OP, GraphView, NodeView

from .errors import CommandError, unknown


def select(view: GraphView, option: str, text: str) -> list[str]:
    """The ids of the nodes that *text* selects.

    Raises:
        CommandError: there are none.
    """
    kind, colon, value = text.partition(":")
    ops = [n for n in view.nodes if n.kind == OP]
    if colon and kind == "op":
        found = [n for n in ops if value in (n.type, n.name, n.id)]
        known = [*dict.fromkeys(n.type for n in ops), *(n.name for n in ops)]
    elif colon and kind == "layer":
        found = [n for n in ops if n.scope == value or n.scope.startswith((f"{value}.", f"{value}/"))]
        known = [n.scope for n in ops if n.scope]
    elif colon and kind == "line":
        if not value.rpartition(":")[2].isdigit():
            raise CommandError(f"{option} {text}: expected line:FILE:NUMBER")
        found = [n for n in ops if n.source and (n.source == value or value.endswith(f"/{n.source}"))]
        known = [n.source for n in ops if n.source]
    else:
        found = [n for n in view.nodes if text in _names(n)]
        if not found and text == "loss":
            found = [n for n in view.nodes if n.kind != OP and n.role == "loss"]
        if not found and text.endswith(names.GRAD):
            pairs = {n.id for n in view.nodes if text.removesuffix(names.GRAD) in _names(n)}
            found = [n for n in view.nodes if n.kind != OP and n.part == "backward" and n.pair in pairs]
        if not found and any(sign in text for sign in "*?["):
            found = [n for n in view.nodes if any(fnmatch.fnmatchcase(name, text) for name in _names(n))]
        known = [name for n in view.nodes for name in _names(n)[1:]]
    if not found:
        raise unknown(f"node for {option}:", text, known)
    return [n.id for n in found]


def _names(node: NodeView) -> list[str]:
    """What a node answers to: its id, its name, and both names of ``path (name)``."""
    found = [node.id, node.name]
    if node.name.endswith(")") and " (" in node.name:
        path, _, name = node.name[:-1].partition(" (")
        found += [path, name]
    return found
