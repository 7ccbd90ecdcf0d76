"""Texts of boxes and edges of a picture, as far as there is room."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Final

import numpy as np

from gradtool.engine.view.graph import BOTH, FOLDED, OP, EdgeView, GraphView, NodeView

from ..style import ROLES, role_of
from ..text import cells, fit_text, shorten

LONGEST: Final = 34
"""Columns of a name that a box shows; the whole name is in its tooltip."""

_NAME, _SHAPE = attrgetter("name"), attrgetter("shape")
_SCOPE, _SOURCE = attrgetter("scope"), attrgetter("source")
_FACTS: Final = LONGEST + 6
_LABEL: Final = 24
"""Columns of a text beside an edge."""


class Captions:
    """The texts of one picture.

    Args:
        drawn: the nodes with a box.
        notes: node -> what its box says besides what the view knows.
    """

    def __init__(self, view: GraphView, drawn: Sequence[NodeView], notes: Mapping[str, str]) -> None:
        # Almost all programs have names of plain characters, which need not be looked at one by one.
        self.plain = _is_plain(map(_NAME, view.nodes)) and _is_plain({*map(_SCOPE, drawn), *map(_SOURCE, drawn)})
        self.fit = shorten if self.plain else fit_text
        # Where one part is drawn, an operator names its partner in the other.
        self.alone = view.part != BOTH
        # Most reasons stand in the file that the picture is of.
        self.here = (f"{view.title}:", "line ")
        self.notes = notes

    def columns(self, texts: Iterable[str]) -> list[int]:
        """Return how wide each text is."""
        return list(map(len if self.plain else cells, texts))

    def names(self, nodes: Iterable[NodeView]) -> list[str]:
        """The first line of each box: the letter of its role, its name, and how many it stands for."""
        letters = {role: style.letter for role, style in ROLES.items()}
        fit, short = self.fit, LONGEST if self.plain else -1
        lines = []
        for n in nodes:
            name, count = n.name, n.count
            letter = letters[role_of(n) if n.mark or n.role == "loss" else n.role]
            if count > 1:
                times = f" ×{count}"
                lines.append(f"{letter} {fit(name, LONGEST - len(times))}{times}")
            else:
                lines.append(f"{letter} {name if len(name) <= short else fit(name, LONGEST)}")
        return lines

    def facts(self, nodes: Iterable[NodeView]) -> list[str]:
        """The second line of each box: of an operator its id, layer and place in the source, of a tensor its type."""
        fit, notes, short = self.fit, self.notes, _FACTS if self.plain else -1
        specs: dict[tuple[object, ...], str] = {}
        lines = []
        for n in nodes:
            note = f"{notes[n.id]} · " if notes and n.id in notes else ""
            if n.note:
                note = f"{note}{n.note.replace(*self.here)} · "
            if n.members and (n.type == FOLDED if n.kind == OP else n.shape is None):
                lines.append(note + _members(n))
                continue
            if n.kind == OP:
                text = self._operator(n, note)
            else:
                spec = specs.get((n.dtype, n.shape))
                if spec is None:
                    spec = specs[n.dtype, n.shape] = n.spec
                text = note + spec
                if not spec or (note and len(text) > _FACTS):
                    text = note.removesuffix(" · ")
            lines.append(text if len(text) <= short else fit(text, _FACTS))
        return lines

    def _operator(self, n: NodeView, note: str) -> str:
        """The second line of an operator's box; where a reason stands in it, the rest gives way."""
        text = note + n.id
        if self.alone and n.pair is not None:
            text = f"{text} · ↔ {n.pair}"
        scope, source = n.scope, n.source
        if scope:
            room = _FACTS - len(text) - len(source) - 6
            if len(scope) > room:
                scope = scope.rpartition(".")[2]
            if len(scope) <= room:
                text = f"{text} · {scope}"
        if source:
            text = f"{text} · {source}"
        if not n.note or len(text) <= _FACTS:
            return text
        return note + source if len(note) + len(source) <= _FACTS else note.removesuffix(" · ")

    def edge_texts(self, tensors: Sequence[NodeView], edges: Iterable[EdgeView], shaped: Iterable[bool]) -> list[str]:
        """The texts of edges: a name, and where it is *shaped* the shape, which has room first; or why it is cut."""
        fit, short = self.fit, _LABEL if self.plain else -1
        names, shapes = map(_NAME, tensors), map(_Shapes().__getitem__, map(_SHAPE, tensors))
        lines = []
        for name, shape, edge, with_shape in zip(names, shapes, edges, shaped, strict=True):
            if edge.cut:
                lines.append(fit_text(edge.cut.replace(*self.here), _LABEL))
            elif edge.count > 1:
                lines.append(f"{edge.count} values")
            elif not with_shape:
                lines.append(name if len(name) <= short else fit(name, _LABEL))
            elif len(name) + len(shape) < short:
                lines.append(f"{name} {shape}".rstrip())
            else:
                fitting = fit(name, max(_LABEL - len(shape) - 1, 1))
                lines.append(f"{fitting} {shape}" if len(fitting) > 4 or fitting == name else shape)
        return lines


class _Shapes(dict[tuple[int, ...] | None, str]):
    """Shapes as edges say them, each written once."""

    def __missing__(self, shape: tuple[int, ...] | None) -> str:
        if shape is None:
            return self.setdefault(shape, "")
        dims = "×".join("?" if d < 0 else str(d) for d in shape) if shape else "[]"
        return self.setdefault(shape, shorten(dims, _LABEL))


def _is_plain(texts: Iterable[str]) -> bool:
    """Return whether all characters are printable ASCII."""
    text = "".join(texts)
    codes = np.frombuffer(text.encode("ascii"), np.uint8) if text.isascii() else None
    return codes is not None and int(codes.min(initial=32)) >= 32 and int(codes.max(initial=32)) < 127


def _members(node: NodeView) -> str:
    each = len(node.members) // node.count
    return f"{each} {'operators' if node.kind == OP else 'tensors'}{' each' if node.count > 1 else ''}"
