"""Selectors over what a picture shows, in both modes alike: ids, names, globs, ``op:``, ``layer:``, ``line:``."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Final

from ..core import names
from ..core.command_errors import CommandError, unknown
from ..view.graph import OP, GraphView, NodeView


def select(view: GraphView, option: str, text: str) -> list[str]:
    """The ids of the nodes that *text* selects.

    Raises:
        CommandError: there are none.
    """
    kind, colon, value = text.partition(":")
    if colon and kind == "line" and not value.rpartition(":")[2].isdigit():
        raise CommandError(f"{option} {text}: expected line:FILE:NUMBER")
    ops = [n for n in view.nodes if n.kind == OP]
    nodes, texts = _OPERATORS[kind](ops, value) if colon and kind in _OPERATORS else _select(view, text)
    if not nodes:
        raise unknown(f"node for {option}:", text, texts)
    return [n.id for n in nodes]


Selected = tuple[list[NodeView], list[str]]
"""Nodes, and what there is to select by."""


def _select_type(ops: Sequence[NodeView], value: str) -> Selected:
    texts = [*dict.fromkeys(n.type for n in ops), *(n.name for n in ops)]
    return [n for n in ops if value in (n.type, n.name, n.id)], texts


def _select_layer(ops: Sequence[NodeView], value: str) -> Selected:
    inside = (f"{value}.", f"{value}/")
    return [n for n in ops if n.scope == value or n.scope.startswith(inside)], [n.scope for n in ops if n.scope]


def _select_line(ops: Sequence[NodeView], value: str) -> Selected:
    made = [n for n in ops if n.source]
    return [n for n in made if n.source == value or value.endswith(f"/{n.source}")], [n.source for n in made]


_OPERATORS: Final[Mapping[str, Callable[[Sequence[NodeView], str], Selected]]] = {
    "op": _select_type,
    "layer": _select_layer,
    "line": _select_line,
}


def _select(view: GraphView, text: str) -> Selected:
    """The first of these ways that leads to a node."""
    ways = (_match_name, _loss, _gradients, _match_pattern)
    nodes = next(filter(None, (way(view, text) for way in ways)), [])
    return nodes, [*chain.from_iterable(_names(n)[1:] for n in view.nodes)]


def _match_name(view: GraphView, text: str) -> list[NodeView]:
    return [n for n in view.nodes if text in _names(n)]


def _loss(view: GraphView, text: str) -> list[NodeView]:
    return [n for n in view.nodes if text == "loss" and n.kind != OP and n.role == "loss"]


def _gradients(view: GraphView, text: str) -> list[NodeView]:
    """The gradients of what has the name before ``@GRAD``."""
    if not text.endswith(names.GRAD):
        return []
    pairs = {n.id for n in _match_name(view, text.removesuffix(names.GRAD))}
    return [n for n in view.nodes if n.kind != OP and n.part == "backward" and n.pair in pairs]


def _match_pattern(view: GraphView, text: str) -> list[NodeView]:
    if {*"*?["}.isdisjoint(text):
        return []
    return [n for n in view.nodes if any(fnmatch.fnmatchcase(name, text) for name in _names(n))]


def _names(node: NodeView) -> list[str]:
    """Return the names that a node is found by: its id, its name, and both names of ``path (name)``."""
    answers = [node.id, node.name]
    if node.name.endswith(")") and " (" in node.name:
        path, _, name = node.name[:-1].partition(" (")
        answers += [path, name]
    return answers
