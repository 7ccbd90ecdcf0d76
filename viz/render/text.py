"""The graph for a terminal: forward operators beside their gradient operators, with lines between those that feed each
other where there is room."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from gradtool.engine.view.graph import BACKWARD, BIRTH, FORWARD, IDLE, LOST, OP, GraphView, NodeView

from ..forms import Drawable
from ..legend import legend_title
from ..mirror.scene import SCISSORS
from ..style import look
from ..text import cells, printable

NOTHING: Final = "–"
MOST_ROWS: Final = 80
MOST_LANES: Final = 12
"""A graph with more rows, or with more lines beside each other, is shown without lines."""

_SIGNS: Final = " ╵╷│╴╯╮┤╶╰╭├─┴┬┼"
"""A sign for every set of directions: 1 up, 2 down, 4 left, 8 right."""
_SIGNS_IN_ASCII: Final = " |||-+++-+++-+++"
_LINES_IN_ASCII: Final = dict(zip(_SIGNS[1:], _SIGNS_IN_ASCII[1:], strict=True))
_MARKS_IN_ASCII: Final = {"✂": "cut:", "✗": "x", "∅": "0"}
_ASCII: Final = str.maketrans(
    {
        "–": "-",
        "↔": "<->",
        "▶": ">",
        "◀": "<",
        "·": "|",
        "×": "x",
        "…": "...",
        **_MARKS_IN_ASCII,
        **_LINES_IN_ASCII,
    }
)


class DrawnPair(NamedTuple):
    """A forward operator and one of its gradient operators; either may be missing.

    Attributes:
        saved: the forward values that the gradient operator keeps alive.
        first: whether no earlier pair has the same forward operator.
    """

    forward: NodeView | None
    backward: NodeView | None
    saved: tuple[NodeView, ...]
    first: bool = True

    @property
    def source(self) -> str:
        node = self.forward or self.backward
        return printable(node.source) if node is not None else ""


def pairs(view: GraphView) -> list[DrawnPair]:
    """Forward operators in their order with their gradient operators; then backward operators that belong to none."""
    by_id = view.by_id()
    saved: dict[str, dict[str, NodeView]] = {}
    for e in view.edges:
        if e.saved:
            saved.setdefault(e.target, {})[e.tensor] = by_id[e.tensor]
    operators = [n for n in view.nodes if n.kind == OP]
    backward: dict[str, list[NodeView | None]] = {}
    for n in operators:
        if n.part == BACKWARD and n.pair is not None:
            backward.setdefault(n.pair, []).append(n)
    rows = []
    for n in operators:
        if n.part == FORWARD:
            for i, b in enumerate(backward.pop(n.id, [None])):
                tensors = tuple(saved.get(b.id, {}).values()) if b is not None else ()
                rows.append(DrawnPair(n, b, tensors, i == 0))
    left = {b.id for rest in backward.values() for b in rest if b is not None}
    for n in operators:
        if n.part == BACKWARD and (n.pair is None or n.id in left):
            rows.append(DrawnPair(None, n, tuple(saved.get(n.id, {}).values())))
    return rows


def table(view: GraphView) -> tuple[list[str], list[list[str]]]:
    """Headings and rows: forward, saved, ↔, backward, source."""
    call = _Calls(view)
    rows = []
    for pair in pairs(view):
        both = pair.forward is not None and pair.backward is not None
        rows.append(
            [
                call(pair.forward) if pair.forward is not None and pair.first else "",
                _list_names(_names(pair.saved)) or NOTHING,
                "↔" if both else "",
                call(pair.backward) if pair.backward is not None else _instead(pair.forward),
                pair.source or NOTHING,
            ]
        )
    return ["forward", "saved", "", "backward", "source"], rows


def _instead(node: NodeView | None) -> str:
    """Return the text in the place of a gradient operator: the reason that there is none."""
    return f"{SCISSORS} {printable(node.note)}" if node is not None and node.mark == IDLE and node.note else NOTHING


def marks(view: GraphView) -> list[tuple[str, str, str]]:
    """Sign, name and reason of what gets no gradient although it could, and of what NaN is born in."""
    return [(look(n).letter, printable(n.name), printable(n.note)) for n in view.nodes if n.mark in (LOST, BIRTH)]


def picture(subject: Drawable, form: str) -> str:
    """Of a :class:`~gradtool.viz.forms.Drawable`: lines for a terminal."""
    return render(subject.view, ascii=subject.ascii)


def render(view: GraphView, *, ascii: bool = False) -> str:
    """The view as lines of text.

    Args:
        ascii: no character outside ASCII; those of names become escapes.
    """
    return "\n".join(_lines(view, _to_ascii if ascii else str)) + "\n"


def _to_ascii(text: str) -> str:
    return text.translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")


def _lines(view: GraphView, form: Callable[[str], str]) -> Iterator[str]:
    yield form(printable(legend_title(view)))
    headings, rows = table(view)
    columns: list[list[str]] = [list(c) for c in zip(headings, *rows, strict=True)]
    couples = pairs(view)
    left, right = _wires(view, couples)
    if left is not None and right is not None:
        columns = [["", *left], *columns[:4], ["", *right], columns[4]]
    columns = [[form(cell) for cell in column] for column in columns]
    widths = [max(map(cells, column)) for column in columns]
    for row in zip(*columns, strict=True):
        yield "  ".join(c + " " * (w - cells(c)) for c, w in zip(row, widths, strict=True) if w).rstrip()
    for sign, name, reason in marks(view):
        yield form(f"{sign} {name}: {reason}")
    operators = sum(1 for n in view.nodes if n.kind == OP and n.part == FORWARD)
    paired = len({p.forward.id for p in couples if p.forward is not None and p.backward is not None})
    of = f"{operators} forward {'op' if operators == 1 else 'ops'}"
    last = f"{paired} of {of} {'has' if paired == 1 else 'have'} a gradient op"
    yield last if left is not None else form(f"{last} · too large for lines between them")


class _Calls:
    """Operators as calls: ``y float32[-1, 8] = relu(x)``; of a gradient operator the arriving gradients first."""

    def __init__(self, view: GraphView) -> None:
        self._by_id = view.by_id()
        self._read: dict[str, list[str]] = {}
        self._written: dict[str, dict[str, None]] = {}
        for e in view.edges:
            self._read.setdefault(e.target, []).append(e.tensor)
            self._written.setdefault(e.source, {})[e.tensor] = None

    def __call__(self, op: NodeView) -> str:
        written = [self._by_id[t] for t in self._written.get(op.id, ())]
        read = [self._by_id[t] for t in self._read.get(op.id, ())]
        outputs = _list_names(_names(written))
        arguments = _list_names(_names(read))
        if op.part == BACKWARD:
            arriving = _names(n for n in read if n.part == BACKWARD)
            values = dict.fromkeys(_names(n for n in read if n.part == FORWARD))
            arguments = "; ".join(_list_names(names) for names in (arriving, values) if names)
        elif written:
            outputs = f"{outputs} {written[0].spec}".rstrip()
        call = f"{printable(op.type)}({arguments})"
        return f"{outputs} = {call}" if outputs else call


def _names(nodes: Iterable[NodeView]) -> list[str]:
    return [printable(n.name) for n in nodes]


_TOLD = 8
"""Of more names the first ones are told: a line that says what a recurrent net reads is thousands of columns wide."""


def _list_names(names: Iterable[str]) -> str:
    every = list(names)
    more = len(every) - _TOLD
    return ", ".join(every if more < 2 else [*every[:_TOLD], f"… {more} more"])


# -- lines between operators ------------------------------------------------------------------------------------------


def _wires(view: GraphView, couples: Sequence[DrawnPair]) -> tuple[list[str] | None, list[str] | None]:
    """A cell of signs for each row, left of the forward operators and right of the backward ones; None without room."""
    if len(couples) > MOST_ROWS:
        return None, None
    forward = {p.forward.id: i for i, p in reversed(list(enumerate(couples))) if p.forward is not None}
    backward = {p.backward.id: i for i, p in enumerate(couples) if p.backward is not None}
    sides = []
    for rows, outwards in ((forward, True), (backward, False)):
        nets: dict[int, set[int]] = {}
        for e in view.edges:
            if e.source in rows and e.target in rows and rows[e.source] != rows[e.target]:
                nets.setdefault(rows[e.source], set()).add(rows[e.target])
        lanes = _lanes(nets)
        if len(lanes) > MOST_LANES:
            return None, None
        sides.append(_side(len(couples), lanes, outwards))
    return sides[0], sides[1]


Net = tuple[int, set[int]]
"""The row that a line comes from, and those it leads to."""


def _lanes(nets: Mapping[int, set[int]]) -> list[list[Net]]:
    """Lines in as few lanes as they need; those of a lane do not touch each other."""
    lanes: list[list[Net]] = []
    ends: list[int] = []
    for source, targets in sorted(nets.items(), key=lambda n: (min(n[0], *n[1]), n[0])):
        top, bottom = min(source, *targets), max(source, *targets)
        lane = next((i for i, end in enumerate(ends) if end < top), len(ends))
        if lane == len(ends):
            lanes.append([])
            ends.append(bottom)
        lanes[lane].append((source, targets))
        ends[lane] = bottom
    return lanes


def _side(count: int, lanes: Sequence[Sequence[Net]], left: bool) -> list[str]:
    """The signs of every row; lane 0 is next to the operators."""
    up = [[False] * len(lanes) for _ in range(count)]
    down = [[False] * len(lanes) for _ in range(count)]
    joins = [[False] * len(lanes) for _ in range(count)]
    arrives = [False] * count
    for i, lane in enumerate(lanes):
        for source, targets in lane:
            top, bottom = min(source, *targets), max(source, *targets)
            for r in range(top, bottom + 1):
                up[r][i], down[r][i] = r > top, r < bottom
            for r in (source, *targets):
                joins[r][i] = True
                arrives[r] = arrives[r] or r in targets
    return [_cell(up[r], down[r], joins[r], arrives[r], left) for r in range(count)]


def _cell(up: list[bool], down: list[bool], joins: list[bool], arrives: bool, left: bool) -> str:
    outermost = max((i for i, j in enumerate(joins) if j), default=-1)
    signs = []
    for i in range(len(joins)):
        if i > outermost or (not joins[i] and (up[i] or down[i])):  # a line that goes by stays whole
            signs.append(_SIGNS[up[i] + 2 * down[i]])
            continue
        inner, outer = True, i < outermost
        signs.append(_SIGNS[up[i] + 2 * down[i] + (4 * outer + 8 * inner if left else 4 * inner + 8 * outer)])
    end = "─"
    if outermost < 0:
        end = " "
    elif arrives:
        end = "▶" if left else "◀"
    return "".join(reversed(signs)) + end if left else end + "".join(signs)
