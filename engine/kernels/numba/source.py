"""The source of the function that computes a group: one nest of loops, in Numba's subset of Python.

The rows of the domain are gone through, and each row in *phases*: a loop over its elements for all that is expressions,
then the calls of NumPy's loops whose operands are there, then the next phase. What a later phase reads of an earlier
one lies in a room on the stack as large as a row, or, where no row is added up, as a block of it.

The text has no names, numbers of rows or sizes of a model in it, so that layers of a model that do the same are one
function. It is the key that the compiled code is kept under.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .expressions import expression, inline, literal
from .layout import dimensions, pattern
from .loops import NoLoop, inner_loop
from .trace import SUMS, Node, Untraceable, domain

BLOCK = 1024
"""Elements of a row that go through the phases together."""

ROW = 1 << 13
"""Elements up to which a row is added up in a group; a longer one is left to NumPy."""

ROOM = 1 << 18
"""Bytes that a function may have on the stack."""


@dataclass(slots=True)
class Source:
    """A generated function, ``group(operands…, results…, loops, sizes of loops…, begin, end)``.

    Attributes:
        text: its source.
        leaves: the registers that it reads, in the order of its parameters.
        dims: the sizes of its loops.
        loops: which of NumPy's loops it calls, by ufunc and types.
        rooms: names, types and sizes of what it has on the stack.
        sums: which results rows are added to, from zeros on.
        divisible: whether parts of the first loop can be computed at the same time.
    """

    text: str
    leaves: list[int]
    dims: list[int]
    loops: list[tuple[str, str]]
    rooms: list[tuple[str, str, int]]
    sums: frozenset[int]
    divisible: bool


def generated(results: Sequence[Node]) -> Source:
    """The function that computes *results*, whose arrays are its parameters in this order.

    Raises:
        Untraceable: the nodes go together in no nest of loops.
    """
    return _Writer(results).source()


def check(results: Sequence[Node]) -> None:
    """See that there is a nest of loops for *results*.

    Raises:
        Untraceable: there is none.
    """
    _Writer(results)


def ordered(results: Sequence[Node]) -> list[Node]:
    """All nodes that *results* are computed from, operands first."""
    order: dict[int, Node] = {}
    todo: list[tuple[Node, bool]] = [(n, False) for n in reversed(results)]
    while todo:
        node, ready = todo.pop()
        if id(node) in order:
            continue
        if ready:
            order[id(node)] = node
        else:
            todo.append((node, True))
            todo += [(a, False) for a in reversed(node.args) if id(a) not in order]
    return list(order.values())


@dataclass(slots=True)
class _Phase:
    """Lines of a phase: numbers of the row, the loop over its elements, calls after it."""

    row: list[str] = field(default_factory=list)
    element: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)


class Frame:
    """The nest of loops for *results*.

    Attributes:
        nodes: all that they are computed from, operands first.
        dims: the sizes of the loops.
        patterns: along which of them each node varies.
        rows_added: whether something is told by the elements of a row together.
        outer: sums that rows, or numbers of rows, are added to.

    Raises:
        Untraceable: there is none.
    """

    def __init__(self, results: Sequence[Node]) -> None:
        self.results = results
        self.nodes = ordered(results)
        count = domain(self.nodes)
        self.dims = dimensions((n.layout for n in self.nodes), count) or [1]
        self.patterns = {id(n): pattern(n.layout, self.dims) for n in self.nodes}
        inner = {id(n): self._inner(n) for n in self.nodes if n.op in SUMS}
        self.rows_added = any(inner.values())
        self.outer = [n for n in self.nodes if not inner.get(id(n), True)]

    def _inner(self, node: Node) -> bool:
        """Whether *node* adds up rows; else it adds rows, or numbers of rows, to each other.

        Raises:
            Untraceable: it is neither.
        """
        if node.op in ("vecdot", "pick"):
            return self._over_a_row(node)
        before, after = self.patterns[id(node.args[0])], self.patterns[id(node)]
        dropped = [a and not b for a, b in zip(before, after, strict=True)]
        if dropped[-1] and not any(dropped[:-1]):
            return True
        # NumPy adds up in order what lies along the last dimension, by parts, and everything else one after the other.
        if node.value != "add" or not any(before) or dropped[max(i for i, b in enumerate(before) if b)]:
            raise Untraceable("sum over some of the dimensions")
        return False

    def _over_a_row(self, node: Node) -> bool:
        """True: the rows that *node* is told by are those of the loops.

        Raises:
            Untraceable: they are not.
        """
        rows = node.args if node.op == "vecdot" else node.args[:1]
        operands = [self.patterns[id(a)] for a in rows if a.op != "constant"]
        if not operands or self.patterns[id(node)][-1] or not all(p[-1] for p in operands):
            raise Untraceable("rows of another length")
        if any(self.patterns[id(node)][i] < p[i] for p in operands for i in range(len(p) - 1)):
            raise Untraceable("rows of another length")
        return True


class _Writer(Frame):
    """Writes one function."""

    def __init__(self, results: Sequence[Node]) -> None:
        super().__init__(results)
        self.block = self._block()
        self.names: dict[int, str] = {}
        self.phase_of: dict[int, int] = {}
        """From which phase on a value is there."""
        self.leaves: list[int] = []
        self.loops: list[tuple[str, str]] = []
        self.rooms: list[tuple[str, str, int]] = []
        self.bases: dict[tuple[bool, ...], str] = {}
        self.phases: list[_Phase] = []
        self.place: dict[int, str] = {}
        """Where the elements of a node lie in memory: ``name, index`` without the element's own number."""
        self.written: dict[int, int] = {}
        self.loads: dict[tuple[str, int], str] = {}
        self._check()

    def _check(self) -> None:
        outer = {id(n) for n in self.outer}
        for node in self.nodes:
            if any(id(a) in outer for a in node.args):
                raise Untraceable("sum of rows")
        for node in self.outer:
            if id(node) not in {id(r) for r in self.results}:
                raise Untraceable("sum of rows")
            if not self._varies(node.args[0]) and not self.rows_added:
                raise Untraceable("a row may be some blocks")

    def _block(self) -> int:
        if not self.rows_added:
            return BLOCK
        if self.dims[-1] > ROW:
            raise Untraceable("long rows")
        return max(64, 1 << (self.dims[-1] - 1).bit_length())

    # -- the parts of the text -------------------------------------------------------------------------------------

    def source(self) -> Source:
        self._name_places()
        for node in self.nodes:
            self._write(node)
        self._check_rooms()
        sums = frozenset(self.written[id(n)] for n in self.outer)
        divisible = not self.outer and not (self.rows_added and len(self.dims) == 1)
        return Source(self._text(), self.leaves, self.dims, self.loops, self.rooms, sums, divisible)

    def _name_places(self) -> None:
        """Operands and results, and where they lie."""
        for node in self.nodes:
            if node.op == "leaf" and node.value not in self.leaves:
                self.leaves.append(node.value)
        numbers = {r: i for i, r in enumerate(self.leaves)}
        for node in self.nodes:
            if node.op == "leaf":
                self.place[id(node)] = f"i{numbers[node.value]}, {self._base(node)}"
        for i, node in enumerate(self.results):
            if node.op != "leaf":
                self.written.setdefault(id(node), i)

    def _base(self, node: Node) -> str:
        """The index of a row's first element among those of *node*."""
        flags = self.patterns[id(node)]
        if flags not in self.bases:
            self.bases[flags] = f"r{len(self.bases)}"
        return self.bases[flags]

    def _varies(self, node: Node) -> bool:
        """Whether *node* has a number for each element of a row, and not one for all."""
        return self.patterns[id(node)][-1]

    def _phase(self, number: int) -> _Phase:
        while len(self.phases) <= number:
            self.phases.append(_Phase())
        return self.phases[number]

    def _room(self, node: Node, whole: bool = False) -> str:
        name = f"s{len(self.rooms)}"
        self.rooms.append((name, node.dtype.name, self.block if whole or self._varies(node) else 1))
        return name

    def _loop(self, ufunc: str, types: str) -> str:
        key = ufunc, types
        try:
            inner_loop(*key)
        except NoLoop as error:
            raise Untraceable(str(error)) from None
        if key not in self.loops:
            self.loops.append(key)
        return f"at(loops, {2 * self.loops.index(key)}), at(loops, {2 * self.loops.index(key) + 1})"

    def _write(self, node: Node) -> None:
        if node.op in ("leaf", "constant"):
            self.phase_of[id(node)] = 0
            return
        ready = max([self.phase_of[id(a)] for a in node.args], default=0)
        if node.op == "reduce":
            self._write_reduce(node, ready)
        elif node.op == "vecdot":
            self._write_products(node, ready)
        elif node.op == "pick":
            self._write_pick(node, ready)
        elif inline(node):
            self._write_expression(node, ready)
        else:
            self._write_call(node, ready)

    def _value(self, node: Node, phase: int) -> str:
        """*node* as an operand of an expression in the loop of *phase*, or among the numbers of the row."""
        if node.op == "constant":
            return literal(node.value, node.dtype)
        if node.op == "leaf":
            return self._loaded(self.place[id(node)], self._varies(node), phase)
        if not self._varies(node) or (self.phase_of[id(node)] == phase and id(node) in self.names):
            return self.names[id(node)]
        return self._loaded(self._memory(node), True, phase)

    def _loaded(self, place: str, varies: bool, phase: int) -> str:
        """What lies there, read once in a phase."""
        key = place, phase
        if key not in self.loads:
            self.loads[key] = f"x{len(self.loads)}"
            lines = self._phase(phase).element if varies else self._phase(phase).row
            lines.append(f"{self.loads[key]} = at({place}{' + j' if varies else ''})")
        return self.loads[key]

    def _memory(self, node: Node) -> str:
        """Where the elements of *node* lie, for phases after the one that computes it."""
        if id(node) not in self.place:
            self.place[id(node)] = f"{self._room(node)}, 0"
            if id(node) in self.names:
                lines = self._phase(self.phase_of[id(node)]).element
                lines.append(f"put({self.place[id(node)]} + j, {self.names[id(node)]})")
        return self.place[id(node)]

    def _write_expression(self, node: Node, phase: int) -> None:
        if node.op == "hot" and (self.dims[-1] != node.value or not self._varies(node)):
            raise Untraceable("rows of another length")
        text = expression(node, [self._value(a, phase) for a in node.args])
        name = self.names[id(node)] = f"v{len(self.names)}"
        self.phase_of[id(node)] = phase
        lines = self._phase(phase).element if self._varies(node) else self._phase(phase).row
        lines.append(f"{name} = {text}")
        self._write_result(node, phase)

    def _write_result(self, node: Node, phase: int) -> None:
        """Write a number that is asked for to its array."""
        at = self.written.get(id(node))
        if at is None:
            return
        if self._varies(node):
            self.place[id(node)] = f"o{at}, {self._base(node)}"
            self._phase(phase).element.append(f"put({self.place[id(node)]} + j, {self.names[id(node)]})")
        else:
            self._phase(phase).row.append(f"put(o{at}, {self._base(node)}, {self.names[id(node)]})")

    def _pointer(self, node: Node, phase: int) -> tuple[str, int]:
        """The address of a loop's operand, and how far its elements lie apart."""
        if self._varies(node):
            place = self.place[id(node)] if node.op == "leaf" else self._memory(node)
            return f"address({place})", node.dtype.itemsize
        if node.op == "leaf":
            return f"address({self.place[id(node)]})", 0
        room = self._room(node)
        self._phase(phase).calls.append(f"put({room}, 0, {self._value(node, phase)})")
        return f"address({room}, 0)", 0

    def _write_call(self, node: Node, phase: int) -> None:
        """A loop of NumPy's over a row, or for its one number."""
        types = "".join(a.dtype.char for a in node.args) + "->" + node.dtype.char
        called = self._loop(node.op, types)
        if len(node.args) > 2:
            raise Untraceable(node.op)
        at = self.written.get(id(node))
        operands = [self._pointer(a, phase) for a in node.args]
        calls = self._phase(phase).calls
        if at is not None:
            self.place[id(node)] = f"o{at}, {self._base(node)}"
        else:
            self.place[id(node)] = f"{self._room(node)}, 0"
        count = "m" if self._varies(node) else "1"
        places = [*operands, (f"address({self.place[id(node)]})", node.dtype.itemsize), ("0", 0)][:3]
        calls.append(
            f"loop({called}, {', '.join(p for p, _ in places)}, {count}, {', '.join(str(s) for _, s in places)})"
        )
        self.phase_of[id(node)] = phase + 1
        if not self._varies(node):
            name = self.names[id(node)] = f"v{len(self.names)}"
            calls.append(f"{name} = at({self.place[id(node)]})")

    def _write_reduce(self, node: Node, phase: int) -> None:
        (x,) = node.args
        if id(node) in {id(n) for n in self.outer}:
            name = f"o{self.written[id(node)]}, {self._base(node)}"
            value = self._value(x, phase)
            if self._varies(x):
                self._phase(phase).element.append(f"put({name} + j, at({name} + j) + {value})")
            else:
                self._phase(phase).row.append(f"put({name}, at({name}) + {value})")
            self.phase_of[id(node)] = phase
            return
        char = node.dtype.char
        called = self._loop(node.value, f"{char}{char}->{char}")
        pointer, step = self._pointer(x, phase)
        room = self._room(node)
        calls = self._phase(phase).calls
        total = f"address({room}, 0)"
        if node.value == "add":
            calls.append(f"put({room}, 0, {literal(0, node.dtype)})")
            calls.append(f"loop({called}, {total}, {pointer}, {total}, m, 0, {step}, 0)")
        else:
            place = pointer.removeprefix("address(").removesuffix(")")
            calls.append(f"put({room}, 0, at({place}))")
            calls.append(f"loop({called}, {total}, {pointer} + {step}, {total}, m - 1, 0, {step}, 0)")
        self._named(node, room, phase)

    def _write_products(self, node: Node, phase: int) -> None:
        """The sum of the products of two rows."""
        char = node.dtype.char
        called = self._loop("vecdot", f"{char}{char}->{char}")
        pointers = [self._row(a, phase) for a in node.args]
        room = self._room(node)
        places = [*pointers, f"address({room}, 0)"]
        calls = self._phase(phase).calls
        calls.append(f"products({called}, {', '.join(places)}, m, {node.dtype.itemsize}, {node.dtype.itemsize})")
        self._named(node, room, phase)

    def _write_pick(self, node: Node, phase: int) -> None:
        """The element of a row that a number says, once they are in memory."""
        x, which = node.args
        place = self.place[id(x)] if x.op == "leaf" else self._memory(x)
        number = self._value(which, phase)
        room = self._room(node)
        self._phase(phase).calls.append(f"put({room}, 0, at({place} + np.int64({number})))")
        self._named(node, room, phase)

    def _row(self, node: Node, phase: int) -> str:
        """The address of a row of *node*: one of the same numbers, too, has an element for each, as NumPy reads it."""
        if self._varies(node):
            return self._pointer(node, phase)[0]
        room = self._room(node, whole=True)
        self._phase(phase).element.append(f"put({room}, j, {self._value(node, phase)})")
        return f"address({room}, 0)"

    def _named(self, node: Node, room: str, phase: int) -> None:
        """The number of a row in *room* is there from the next phase on."""
        calls = self._phase(phase).calls
        name = self.names[id(node)] = f"v{len(self.names)}"
        calls.append(f"{name} = at({room}, 0)")
        at = self.written.get(id(node))
        if at is not None:
            calls.append(f"put(o{at}, {self._base(node)}, {name})")
        self.phase_of[id(node)] = phase + 1

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
            lines.append("    " * depth + f"for k{k} in range({'begin, end' if k == 0 else f'n{k}'}):")
            depth += 1
        begin, end = ("begin", "end") if not outer else ("0", last)
        whole = self.rows_added or not (self.rooms or any(p.calls for p in self.phases))
        if whole:
            lines += ["    " * depth + f"m = {end} - {begin}"]
        else:
            lines.append("    " * depth + f"for b in range({begin}, {end}, {self.block}):")
            depth += 1
            lines.append("    " * depth + f"m = min({end} - b, {self.block})")
        start = begin if whole else "b"
        if any(n.op == "hot" for n in self.nodes):
            lines.append("    " * depth + f"column = {start}")
        for flags, base in self.bases.items():
            lines.append("    " * depth + f"{base} = {self._index(flags, start)}")
        for phase in self.phases:
            lines += ["    " * depth + line for line in phase.row]
            if phase.element:
                lines.append("    " * depth + "for j in range(m):")
                lines += ["    " * (depth + 1) + line for line in phase.element]
            lines += ["    " * depth + line for line in phase.calls]
        return "\n".join(lines) + "\n"

    def _index(self, flags: tuple[bool, ...], start: str) -> str:
        terms = [start] if flags[-1] else []
        for k in range(len(self.dims) - 1):
            if flags[k]:
                factors = [f"n{i}" for i in range(k + 1, len(self.dims)) if flags[i]]
                terms.append(" * ".join([f"k{k}", *factors]))
        return " + ".join(terms) or "0"
