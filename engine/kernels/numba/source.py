"""The source of the function that computes a group: one nest of loops, in Numba's subset of Python.

The rows of the domain are gone through, and each row in *phases*: a loop over its elements for all that is expressions,
then what is told by all of them together and the calls of NumPy's loops whose operands are there, then the next phase.
What a later phase reads of an earlier one lies in a room on the stack as large as a row, or, where no row is added up,
as a block of it.

A call takes as long as some dozen elements, so short rows are gone through together (*tiles*): all of them up to a
call, which is about the elements, or the numbers, of all, and then on to the next call. Phases between two of these
barriers are a *segment*. Only what is read behind a barrier needs room for each row of a tile.

The text has no names, numbers of rows or sizes of a model in it, so that layers of a model that do the same are one
function. It is the key that the compiled code is kept under.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import field
from typing import Any, NamedTuple

import numpy as np

from ...core.identity import identity
from ...core.records import dataclass
from .expressions import expression, inline, literal
from .loop_nest import LoopNest
from .loops import NoLoop, inner_loop
from .nodes import FLEXIBLE, SUMS, GroupValue, Strip, Untraceable

OPERANDS = ("leaf", "part")
"""Nodes that lie in arrays that others have made."""

BLOCK = 1024
"""Elements of a row that go through the phases together, and of short rows that do."""

ROW = 1 << 13
"""Elements up to which a row is added up in a group; a longer one is left to NumPy."""

EXTREMES = {"maximum": "largest", "minimum": "smallest"}
"""How the largest and the smallest element of a row are called."""

ROOM = 1 << 18
"""Bytes that a function may have on the stack."""

PART = 1 << 12
"""Elements of the smallest part that a thread computes."""

COLUMNS = 128
"""What is computed of a row at least, where each thread has a part of all rows."""

MANY = 16
"""Parts that are enough."""


@dataclass(slots=True)
class Source:
    """A generated function, ``group(operands…, results…, loops, sizes of loops…, begin, end)``.

    Begin and end are of one of the loops: parts of it can be computed at the same time.

    Attributes:
        text: its source.
        leaves: the registers that it reads, in the order of its parameters.
        dims: the sizes of its loops.
        loops: which of NumPy's loops it calls, by ufunc and types.
        rooms: names, types and sizes of what it has on the stack.
        sums: which results rows are added to, from zeros on.
        divided: which loop has parts.
        unit: what these are multiples of; 0 where no loop has any.
        heavy: whether one of NumPy's loops is called for every element.
    """

    text: str
    leaves: list[int]
    dims: list[int]
    loops: list[tuple[str, str]]
    rooms: list[tuple[str, str, int]]
    sums: frozenset[int]
    divided: int = 0
    unit: int = 0
    heavy: bool = False


def generate(results: Sequence[GroupValue]) -> Source:
    """The function that computes *results*, whose arrays are its parameters in this order.

    Raises:
        Untraceable: the nodes go together in no nest of loops.
    """
    return _Writer(results).source()


def check(results: Sequence[GroupValue]) -> None:
    """See that there is a nest of loops for *results*.

    Raises:
        Untraceable: there is none.
    """
    _Writer(results)


@dataclass(slots=True)
class _Phase:
    """Lines of a phase: numbers of the row, the loop over its elements, calls after it, and calls for all of a tile."""

    row: list[str] = field(default_factory=list)
    element: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    barrier: list[str] = field(default_factory=list)


class _Spot(NamedTuple):
    """Place of the elements of a node: ``name, index`` of the first one of a row, and of a tile."""

    row: str
    tile: str


class _Writer(LoopNest):
    """Writes one function."""

    def __init__(self, results: Sequence[GroupValue]) -> None:
        super().__init__(results)
        self.outer_ids = {identity(n) for n in self.outer}
        self.block = self._block()
        self.names: dict[int, str] = {}
        self.phase_of = self._phases()
        """From which phase on a value is there."""
        self.segments = self._segments()
        """By phase, how many barriers are before it."""
        self.kept = self._read_later()
        self.leaves: list[int] = []
        self.loops: list[tuple[str, str]] = []
        self.rooms: list[tuple[str, str, int]] = []
        self.bases: dict[tuple[tuple[bool, ...], Strip | None], str] = {}
        self.phases: list[_Phase] = []
        self.place: dict[int, _Spot] = {}
        self.written: dict[int, int] = {}
        self.added: dict[int, list[_Spot]] = {}
        """Where sums over rows are."""
        self.loads: dict[tuple[str, int], str] = {}
        self._check()

    def _check(self) -> None:
        results = {identity(r) for r in self.results}
        for node in self.nodes:
            if any(identity(a) in self.outer_ids and node.op != "joined" for a in node.args):
                raise Untraceable("sum of rows")
            if any(a.op == "joined" for a in node.args) or (node.op == "joined" and identity(node) not in results):
                raise Untraceable("what is joined is read")
        results.update(identity(a) for n in self.results if n.op == "joined" for a in n.args)
        for node in self.outer:
            if identity(node) not in results:
                raise Untraceable("sum of rows")
            if not self._varies(node.args[0]) and not self.rows_added:
                raise Untraceable("a row may be some blocks")

    def _block(self) -> int:
        """Elements of a room for a row, or for a block of one."""
        if self.rows_added and self.dims[-1] > ROW:
            raise Untraceable("long rows")
        row = max(16, 1 << (self.dims[-1] - 1).bit_length())
        calls = any(not self._is_single_call(n) for n in self.nodes)
        self.tile = BLOCK // row if calls and len(self.dims) > 1 and 2 * row <= BLOCK else 0
        """Rows that go through the phases together; 0 where each does by itself."""
        return row if self.rows_added or self.tile else BLOCK

    # -- the order of the text -------------------------------------------------------------------------------------

    @staticmethod
    def _is_single_call(node: GroupValue) -> bool:
        """Return whether *node* needs no call for many elements."""
        return node.op in (*FLEXIBLE, *SUMS, "joined") or inline(node)

    def _uses_tiles(self, node: GroupValue) -> bool:
        """Return whether *node* is called for all rows of a tile: it and its operands have elements, or a number, for
        each.
        """
        if not self.tile or self._is_single_call(node):
            return False
        parts = [self.patterns[identity(n)][-2:] for n in (node, *node.args) if n.op != "constant"]
        return parts[0][0] and all(p == parts[0] for p in parts)

    def _phases(self) -> dict[int, int]:
        phases: dict[int, int] = {}
        for node in self.nodes:
            phases[identity(node)] = max([phases[identity(a)] for a in node.args], default=0) + self._takes_a_phase(
                node
            )
        return phases

    def _segments(self) -> list[int]:
        barriers = {self.phase_of[identity(n)] for n in self.nodes if self._uses_tiles(n)}  # before these phases
        last = max(self.phase_of.values())
        return list(itertools.accumulate(int(phase in barriers) for phase in range(last + 1)))

    def _read_later(self) -> set[int]:
        """Nodes that are read by calls for tiles, or behind one."""
        kept = set()
        for node in self.nodes:
            ready = max([self.phase_of[identity(a)] for a in node.args], default=0)
            for a in node.args:
                if self._uses_tiles(node) or self._segment_of(a) != self.segments[ready]:
                    kept.add(identity(a))
        return kept

    def _segment_of(self, node: GroupValue) -> int:
        """The segment whose lines compute *node*: it is there in the next phase if it is told by a row or called."""
        return self.segments[self.phase_of[identity(node)] - self._takes_a_phase(node)]

    def _takes_a_phase(self, node: GroupValue) -> bool:
        return not self._is_single_call(node) or (node.op in SUMS and identity(node) not in self.outer_ids)

    # -- the parts of the text -------------------------------------------------------------------------------------

    def source(self) -> Source:
        self._name_places()
        for node in self.nodes:
            self._write(node)
        self._check_rooms()
        added = [[identity(a) for a in (n.args if n.op == "joined" else (n,))] for n in self.results]
        sums = frozenset(i for i, ids in enumerate(added) if self.outer_ids.intersection(ids))
        self.divided, unit = self._parts()
        heavy = any(self._varies(n) and not self._is_single_call(n) for n in self.nodes)
        return Source(self._text(), self.leaves, self.dims, self.loops, self.rooms, sums, self.divided, unit, heavy)

    def _parts(self) -> tuple[int, int]:
        """The loop that has parts, and what these are multiples of; a unit of 0 where no loop has any.

        Rows are added to each other in their order, so it is a loop along which every such sum varies: the first one
        with many parts, or the one with the most. Rows that are added up, or go through in tiles, are not cut.
        """
        best, most = (0, 0), 1
        for k, n in enumerate(self.dims):
            last = k == len(self.dims) - 1
            if (last and (self.rows_added or self.tile)) or not all(self.patterns[identity(s)][k] for s in self.outer):
                continue
            together = COLUMNS if last else self.tile if self.tile and k == len(self.dims) - 2 else 1
            unit = -(-PART * n // math.prod(self.dims))
            unit = -(-unit // together) * together
            if -(-n // unit) > most:
                best, most = (k, unit), -(-n // unit)
            if most >= MANY:
                break
        return best

    def _name_places(self) -> None:
        """Operands and results, and where they lie."""
        for node in self.nodes:
            if node.op in OPERANDS and node.value not in self.leaves:
                self.leaves.append(node.value)
        numbers = {r: i for i, r in enumerate(self.leaves)}
        for node in self.nodes:
            if node.op in OPERANDS:
                self.place[identity(node)] = self._spot(f"i{numbers[node.value]}", node, node.strip)
        for i, node in enumerate(self.results):
            if node.op != "leaf":
                self.written.setdefault(identity(node), i)
            if identity(node) in self.outer_ids:
                self.added.setdefault(identity(node), []).append(self._spot(f"o{i}", node))
            if node.op == "joined":
                for a, strip in zip(node.args, node.value, strict=True):
                    self.added.setdefault(identity(a), []).append(self._spot(f"o{i}", a, strip))

    def _spot(self, name: str, node: GroupValue, strip: Strip | None = None) -> _Spot:
        """Return where *node* lies in the array *name*."""
        key = self.patterns[identity(node)], strip
        base = self.bases.setdefault(key, str(len(self.bases)))
        return _Spot(f"{name}, r{base}", f"{name}, q{base}")

    def _varies(self, node: GroupValue) -> bool:
        """Return whether *node* has a number for each element of a row, and not one for all."""
        return self.patterns[identity(node)][-1]

    def _phase(self, number: int) -> _Phase:
        while len(self.phases) <= number:
            self.phases.append(_Phase())
        return self.phases[number]

    def _room(self, dtype: np.dtype[Any], size: int) -> str:
        name = f"s{len(self.rooms)}"
        self.rooms.append((name, dtype.name, size))
        return name

    def _room_of(self, node: GroupValue) -> _Spot:
        """Room for *node*: of a row, or of the rows of a tile where it is read behind a barrier."""
        size = self.block if self._varies(node) else 1
        if not self.tile or not (identity(node) in self.kept or self._uses_tiles(node)):
            name = self._room(node.dtype, size)
            return _Spot(f"{name}, 0", f"{name}, 0")
        name = self._room(node.dtype, size * self.tile)
        return _Spot(f"{name}, {'w' if self._varies(node) else 't'}", f"{name}, 0")

    def _loop(self, ufunc: str, types: str) -> str:
        key = ufunc, types
        try:
            inner_loop(*key)
        except NoLoop as error:
            raise Untraceable(str(error)) from None
        if key not in self.loops:
            self.loops.append(key)
        return f"at(loops, {2 * self.loops.index(key)}), at(loops, {2 * self.loops.index(key) + 1})"

    def _write(self, node: GroupValue) -> None:
        if node.op in FLEXIBLE:
            return
        ready = max([self.phase_of[identity(a)] for a in node.args], default=0)
        if node.op == "reduce":
            self._write_reduce(node, ready)
        elif node.op == "vecdot":
            self._write_products(node, ready)
        elif node.op == "pick":
            self._write_pick(node, ready)
        elif node.op == "joined":
            self._write_joined(node)
        elif inline(node):
            self._write_expression(node, ready)
        else:
            self._write_call(node, ready)

    def _value(self, node: GroupValue, phase: int) -> str:
        """*node* as an operand of an expression in the loop of *phase*, or among the numbers of the row."""
        if node.op == "constant":
            return literal(node.value, node.dtype)
        if node.op in OPERANDS:
            return self._load(self.place[identity(node)].row, self._varies(node), phase)
        near = self._segment_of(node) == self.segments[phase]
        if self._varies(node):
            near = self.phase_of[identity(node)] == phase
        if near and identity(node) in self.names:
            return self.names[identity(node)]
        return self._load(self._memory(node).row, self._varies(node), phase)

    def _load(self, place: str, varies: bool, phase: int) -> str:
        """Return the element that lies there, read once in a phase."""
        key = place, phase
        if key not in self.loads:
            self.loads[key] = f"x{len(self.loads)}"
            lines = self._phase(phase).element if varies else self._phase(phase).row
            lines.append(f"{self.loads[key]} = at({place}{' + j' if varies else ''})")
        return self.loads[key]

    def _memory(self, node: GroupValue) -> _Spot:
        """Return where the elements of *node* lie, for phases after the one that computes it."""
        if identity(node) not in self.place:
            spot = self.place[identity(node)] = self._room_of(node)
            if identity(node) in self.names:
                self._store(node, spot)
        return self.place[identity(node)]

    def _store(self, node: GroupValue, spot: _Spot) -> None:
        """Write *node*, which has a name, to memory where that is given to it."""
        name = self.names[identity(node)]
        phase = self._phase(self.phase_of[identity(node)])
        if self._varies(node):
            phase.element.append(f"put({spot.row} + j, {name})")
        elif self._takes_a_phase(node):
            self._phase(self.phase_of[identity(node)] - 1).calls.append(f"put({spot.row}, {name})")
        else:
            phase.row.append(f"put({spot.row}, {name})")

    def _write_expression(self, node: GroupValue, phase: int) -> None:
        if node.op == "hot" and (self.dims[-1] != node.value or not self._varies(node)):
            raise Untraceable("rows of another length")
        text = expression(node, [self._value(a, phase) for a in node.args])
        name = self.names[identity(node)] = f"v{len(self.names)}"
        lines = self._phase(phase).element if self._varies(node) else self._phase(phase).row
        lines.append(f"{name} = {text}")
        self._write_result(node)

    def _write_result(self, node: GroupValue) -> None:
        """Write a number that is asked for to its array."""
        at = self.written.get(identity(node))
        if at is not None:
            self.place[identity(node)] = self._spot(f"o{at}", node)
            self._store(node, self.place[identity(node)])

    def _write_call(self, node: GroupValue, phase: int) -> None:
        """A loop of NumPy's over the elements or numbers of a tile, over a row, or for its one number."""
        types = "".join(a.dtype.char for a in node.args) + "->" + node.dtype.char
        called = self._loop(node.op, types)
        if len(node.args) > 2:
            raise Untraceable(node.op)
        by_tiles = self._uses_tiles(node)
        at = self.written.get(identity(node))
        operands = [self._pointer(a, phase, by_tiles) for a in node.args]
        spot = self.place[identity(node)] = self._room_of(node) if at is None else self._spot(f"o{at}", node)
        count = "m" if self._varies(node) else "1"
        if by_tiles:
            count = "rows * m" if self._varies(node) else "rows"
        result = f"address({spot.tile if by_tiles else spot.row})"
        places = [*operands, (result, node.dtype.itemsize), ("0", 0)][:3]
        lines = self._phase(phase).barrier if by_tiles else self._phase(phase).calls
        lines.append(
            f"loop({called}, {', '.join(p for p, _ in places)}, {count}, {', '.join(str(s) for _, s in places)})"
        )
        if not self._varies(node) and not by_tiles:
            name = self.names[identity(node)] = f"v{len(self.names)}"
            lines.append(f"{name} = at({spot.row})")

    def _pointer(self, node: GroupValue, phase: int, by_tiles: bool = False) -> tuple[str, int]:
        """The address of a loop's operand, and how far its elements lie apart."""
        if node.op == "part" and by_tiles:  # rows with gaps between them
            name = self._room(node.dtype, self.tile * (self.block if self._varies(node) else 1))
            value, copied = self._value(node, phase), self._phase(phase)
            if self._varies(node):
                copied.element.append(f"put({name}, w + j, {value})")
            else:
                copied.row.append(f"put({name}, t, {value})")
            return f"address({name}, 0)", node.dtype.itemsize
        if node.op != "constant" and (by_tiles or self._varies(node)):
            spot = self._memory(node)
            return f"address({spot.tile if by_tiles else spot.row})", node.dtype.itemsize
        if node.op == "leaf":
            return f"address({self.place[identity(node)].row})", 0
        room = self._room(node.dtype, 1)
        lines = self._phase(phase).barrier if by_tiles else self._phase(phase).calls
        lines.append(f"put({room}, 0, {self._value(node, phase)})")
        return f"address({room}, 0)", 0

    def _write_reduce(self, node: GroupValue, phase: int) -> None:
        (x,) = node.args
        if identity(node) in self.outer_ids:
            value = self._value(x, phase)
            for place, _ in self.added[identity(node)]:
                if self._varies(x):
                    self._phase(phase).element.append(f"put({place} + j, at({place} + j) + {value})")
                else:
                    self._phase(phase).row.append(f"put({place}, at({place}) + {value})")
            return
        spot = self._memory(x).row
        if node.value == "add":
            self._name(node, f"{literal(0, node.dtype)} + summed({spot}, m)", phase)
        else:
            char = node.dtype.char
            called = self._loop(node.value, f"{char}{char}->{char}")
            self._name(node, f"{EXTREMES[node.value]}({spot}, m, {called})", phase)

    def _write_products(self, node: GroupValue, phase: int) -> None:
        """The sum of the products of two rows."""
        char = node.dtype.char
        called = self._loop("vecdot", f"{char}{char}->{char}")
        pointers = [self._row(a, phase) for a in node.args]
        room = self._room(node.dtype, 1)
        places = [*pointers, f"address({room}, 0)"]
        calls = self._phase(phase).calls
        calls.append(f"products({called}, {', '.join(places)}, m, {node.dtype.itemsize}, {node.dtype.itemsize})")
        self._name(node, f"at({room}, 0)", phase)

    def _write_joined(self, node: GroupValue) -> None:
        """Parts, each when it is there; sums over rows are added where they lie."""
        number = self.written[identity(node)]
        for a, strip in zip(node.args, node.value, strict=True):
            if identity(a) not in self.outer_ids:
                phase = self.phase_of[identity(a)]
                place = self._spot(f"o{number}", node, strip).row
                self._phase(phase).element.append(f"put({place} + j, {self._value(a, phase)})")

    def _write_pick(self, node: GroupValue, phase: int) -> None:
        """The element of a row that a number says, once they are in memory."""
        x, which = node.args
        self._name(node, f"at({self._memory(x).row} + np.int64({self._value(which, phase)}))", phase)

    def _row(self, node: GroupValue, phase: int) -> str:
        """The address of a row of *node*: one of the same numbers, too, has an element for each, as NumPy reads it."""
        if self._varies(node):
            return self._pointer(node, phase)[0]
        room = self._room(node.dtype, self.block)
        self._phase(phase).element.append(f"put({room}, j, {self._value(node, phase)})")
        return f"address({room}, 0)"

    def _name(self, node: GroupValue, text: str, phase: int) -> None:
        """The number of a row is there from the next phase on."""
        name = self.names[identity(node)] = f"v{len(self.names)}"
        self._phase(phase).calls.append(f"{name} = {text}")
        self._write_result(node)

    def _check_rooms(self) -> None:
        if sum(np.dtype(dtype).itemsize * count for _, dtype, count in self.rooms) > ROOM:
            raise Untraceable("too much on the stack")

    # -- putting it together ---------------------------------------------------------------------------------------

    def _text(self) -> str:
        outer, last = len(self.dims) - 1, f"n{len(self.dims) - 1}"
        names = [f"i{i}" for i in range(len(self.leaves))] + [f"o{i}" for i in range(len(self.results))]
        lines = [
            f"def group({', '.join([*names, 'loops', *[f'n{k}' for k in range(len(self.dims))], 'begin', 'end'])}):"
        ]
        lines += [f"    {name} = {name}_()" for name, _, _ in self.rooms]
        depth = 1
        for k in range(outer):
            limits = "begin, end" if k == self.divided else f"0, n{k}"
            step = f", {self.tile}" if self.tile and k == outer - 1 else ""
            lines.append("    " * depth + f"for k{k} in range({limits}{step}):")
            depth += 1
        begin, end = ("begin", "end") if outer == self.divided else ("0", last)
        whole = self.rows_added or self.tile or not (self.rooms or any(p.calls for p in self.phases))
        if whole:
            lines += ["    " * depth + f"m = {end} - {begin}"]
        else:
            lines.append("    " * depth + f"for b in range({begin}, {end}, {self.block}):")
            depth += 1
            lines.append("    " * depth + f"m = min({end} - b, {self.block})")
        start = begin if whole else "b"
        if any(n.op == "hot" for n in self.nodes):
            lines.append("    " * depth + f"column = {start}")
        if self.tile:
            rows = "end" if outer - 1 == self.divided else f"n{outer - 1}"
            lines.append("    " * depth + f"rows = min({rows} - k{outer - 1}, {self.tile})")
        for (flags, strip), base in self.bases.items():
            lines.append("    " * depth + f"{'q' if self.tile else 'r'}{base} = {self._index(flags, strip, start)}")
        for _, phases in itertools.groupby(range(len(self.phases)), self.segments.__getitem__):
            lines += self._segment([self.phases[p] for p in phases], depth)
        return "\n".join(lines) + "\n"

    def _segment(self, phases: Sequence[_Phase], depth: int) -> list[str]:
        """The lines of some phases, for each row of a tile, and of the calls after them."""
        body: list[str] = []
        for phase in phases:
            body += phase.row
            if phase.element:
                body.append("for j in range(m):")
                body += ["    " + line for line in phase.element]
            body += phase.calls
        if self.tile and body:
            heads = ["w = t * m"]
            for ((*_, rows, elements), strip), base in self.bases.items():
                step = "w" if elements else "t"
                if strip is not None and strip.run == self.dims[-1]:
                    step = f"t * {strip.pitch}"
                heads.append(f"r{base} = q{base}" + (f" + {step}" if rows else ""))
            body = ["for t in range(rows):", *["    " + line for line in [*heads, *body]]]
        return ["    " * depth + line for line in [*body, *phases[-1].barrier]]

    def _index(self, flags: tuple[bool, ...], strip: Strip | None, start: str) -> str:
        terms = [start] if flags[-1] else []
        inside = 0  # the first of the loops that are within a run of a part
        while strip is not None and math.prod(self.dims[inside:]) > strip.run:
            inside += 1
        for k in range(len(self.dims) - 1):
            if flags[k]:
                factors = [f"n{i}" for i in range(k + 1, len(self.dims)) if flags[i] and (k >= inside or i < inside)]
                pitch = [str(strip.pitch)] if strip is not None and k < inside else []
                terms.append(" * ".join([f"k{k}", *factors, *pitch]))
        if strip is not None:
            terms.append(str(strip.offset))
        return " + ".join(terms) or "0"
