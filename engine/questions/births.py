"""Marks in a picture the place where NaN or infinity was born in the backward pass that it shows."""

from __future__ import annotations

from dataclasses import replace

from ..answers.birth import DATA, Birth
from ..core import source
from ..core.notes import Notes
from ..kinds.names import Names
from ..view.graph import BIRTH, FORWARD, OP, GraphView, NodeView
from .nan import Births


def mark(view: GraphView, births: Births, notes: Notes) -> GraphView:
    """*view* with the first birth marked; a note says where one was that the picture does not show."""
    birth = next(iter(births.story.births), None)
    if birth is None:
        return view
    told = f"{birth.kind} in {birth.count} of {birth.total} elements"
    here = next((n.id for n in view.nodes if _is_born_in(n, birth, births.names)), None) or _tensor_into_picture(
        view, birth
    )
    if birth.part == DATA:
        notes.note(f"{told} were there before this backward pass: gradtool nan finds where they were born")
    elif here is None:
        place = source.short(birth.loc)
        notes.note(f"{told}, born {birth.part} in {birth.type}{f', {place}' if place else ''}, is not in the picture")
    note = f"{told}, from before" if birth.part == DATA else told
    return replace(view, nodes=tuple(n._replace(mark=BIRTH, note=note) if n.id == here else n for n in view.nodes))


def _is_born_in(node: NodeView, birth: Birth, names: Names) -> bool:
    """Return whether *node* is the operator that a birth happened in, or what was bad from the start."""
    if birth.part == DATA:
        return node.kind != OP and node.name == names.tensor(birth)
    return node.kind == OP and node.part == birth.part and node.name == names.operator(birth)


def _tensor_into_picture(view: GraphView, birth: Birth) -> str | None:
    """The tensor that brings a birth into the picture which happened outside of it, or before it."""
    place = source.short(birth.loc)
    if birth.part == FORWARD:
        made = (n.id for n in view.nodes if n.role == "constant" and n.source == place and n.shape == birth.shape)
        return next(made, None)
    by_id = view.by_id()
    for e in view.edges:
        reader = by_id[e.target]
        if (reader.type, reader.source, e.slot, by_id[e.tensor].shape) == (birth.type, place, birth.slot, birth.shape):
            return e.tensor if e.source == e.tensor else None
    return None
