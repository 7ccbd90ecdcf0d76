"""Owners of the operations of a compiled program, read in XLA's text of it.

What XLA has fused belongs to several instructions. Each has a share, by the elements that its operations in the
fusion compute (of a product of matrices, the multiplications): an estimate, since nobody measures inside of a fusion.
So it is with what a CPU compiles to one function as it is small, loops among it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from ...core.records import dataclass
from .scopes import Path, path

_BEGINS = re.compile(r"^(?:ENTRY )?%?([\w.\-]+) \(.*\{$")
_OPERATION = re.compile(r"^\s+(?:ROOT )?%?([\w.\-]+) = ")
_KIND = re.compile(r"\s*([\w\-]+)\(")
_ARRAY = re.compile(r"\w+\[([\d,<=]*)\]")
_OPERAND = re.compile(r"%([\w.\-]+)")
_CALLED = re.compile(r"\b(?:calls|to_apply|body|condition|branch_computations)=(\{[^}]*\}|%?[\w.\-]+)")
_BODY = re.compile(r"\bbody=%?([\w.\-]+)")
_CALLEE = re.compile(r"[\w.\-]+")
_NAME = re.compile(r'\bop_name="([^"]*)"')
_CONTRACTED = re.compile(r"\blhs_contracting_dims=\{([\d,]*)\}")

_NOTHING = frozenset({"bitcast", "broadcast", "constant", "get-tuple-element", "iota", "parameter", "tuple"})
"""Operations that compute no elements."""

_WHOLE = frozenset({"call", "fusion"})
"""Operations in which nothing is measured."""

_CALLING = frozenset({*_WHOLE, "async-start", "conditional", "while"})
"""Operations that consist of those of other computations."""

_COPIES = frozenset({"copy", "copy-start", "copy-done", "infeed", "outfeed", "send", "recv"})


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of a compiled program.

    Attributes:
        kind: ``add``, ``fusion``.
        owner: whose it is, by its name; empty where it has none.
        called: the computations that it consists of.
        work: how many elements it computes.
        body: of a loop, the computation that is a round.
    """

    kind: str
    owner: Path
    called: Sequence[str]
    work: int
    body: str = ""


@dataclass(frozen=True, slots=True)
class Share:
    """Owners of an operation.

    Attributes:
        parts: by instruction, its part of it, which are 1 together; empty where it is nobody's.
        copies: whether it only moves what is there.
        loops: whether it is a loop.
        within: the loop in whose rounds it runs, by its name; empty where there is none.
        directly: whether it runs once in each round.
    """

    parts: Mapping[Path, float] = field(default_factory=dict)
    copies: bool = False
    loops: bool = False
    within: str = ""
    directly: bool = False


def shares(text: str) -> dict[str, Share]:
    """Return the owners of the operations of a program, by their names in XLA's *text* of it."""
    computations = _computations(text)
    loops = _loops(computations)
    return {
        name: replace(_share(op, computations), within=within, directly=directly, loops=bool(op.body))
        for of, ops in computations.items()
        for within, directly in [loops.get(of, ("", False))]
        for name, op in ops.items()
    }


def _loops(computations: Mapping[str, Mapping[str, Operation]]) -> dict[str, tuple[str, bool]]:
    """By computation the loop in whose rounds it runs, and whether it is all of a round."""
    callers = {
        callee: (of, name, op.body == callee)
        for of, ops in computations.items()
        for name, op in ops.items()
        for callee in op.called
    }
    loops: dict[str, tuple[str, bool]] = {}
    for of in computations:
        at, directly = of, True
        while at in callers:
            at, name, is_round = callers[at]
            if is_round:
                loops[of] = name, directly
                break
            directly = False
    return loops


def _computations(text: str) -> dict[str, dict[str, Operation]]:
    """The operations by the computation that they stand in."""
    computations: dict[str, dict[str, Operation]] = {}
    inside: dict[str, Operation] = {}
    shapes: dict[str, Sequence[int]] = {}
    for line in text.splitlines():
        begins = _BEGINS.match(line)
        if begins is not None:
            inside, shapes = computations.setdefault(begins[1], {}), {}
            continue
        begins = _OPERATION.match(line)
        if begins is None:
            continue
        result, rest = _type(line[begins.end() :])
        kind = _KIND.match(rest)
        if kind is None:
            continue
        arrays = _ARRAY.findall(result)
        shapes[begins[1]] = _shape(arrays[0]) if len(arrays) == 1 else ()
        name, body = _NAME.search(rest), _BODY.search(rest)
        called = [n for names in _CALLED.findall(rest) for n in _CALLEE.findall(names)] if kind[1] in _CALLING else []
        operands = [shapes[n] for n in _OPERAND.findall(rest.partition(")")[0]) if n in shapes]
        inside[begins[1]] = Operation(
            kind[1],
            () if name is None else path(name[1]),
            called,
            _work(kind[1], sum(math.prod(_shape(a)) for a in arrays), operands, rest),
            "" if body is None or kind[1] != "while" else body[1],
        )
    return computations


def _type(text: str) -> tuple[str, str]:
    """The type that *text* begins with, and the rest."""
    if not text.startswith("("):
        result, _, rest = text.partition(" ")
        return result, rest
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return text[: at + 1], text[at + 1 :]
    return text, ""


def _shape(dimensions: str) -> tuple[int, ...]:
    return tuple(int(d.removeprefix("<=")) for d in dimensions.split(",") if d)


def _work(kind: str, elements: int, operands: Sequence[Sequence[int]], rest: str) -> int:
    if kind in _NOTHING:
        return 0
    contracted = _CONTRACTED.search(rest) if kind == "dot" else None
    if contracted is not None and operands:
        return elements * math.prod(operands[0][d] for d in _shape(contracted[1]))
    return max([elements, *map(math.prod, operands)])


def _share(op: Operation, computations: Mapping[str, Mapping[str, Operation]]) -> Share:
    work: dict[Path, int] = {}
    for member in _members(op, computations) if op.kind in _WHOLE else [op]:
        if member.owner:
            work[member.owner] = work.get(member.owner, 0) + member.work
    total = sum(work.values())
    if total:
        return Share({owner: part / total for owner, part in work.items() if part})
    if op.owner:
        return Share({op.owner: 1.0})
    return Share({owner: 1 / len(work) for owner in work}, copies=op.kind in _COPIES)


def _members(op: Operation, computations: Mapping[str, Mapping[str, Operation]]) -> Iterator[Operation]:
    """Return the operations in an operation that call nothing."""
    todo = [op]
    while todo:
        op = todo.pop()
        if op.called:
            todo += [inner for name in op.called for inner in computations.get(name, {}).values()]
        else:
            yield op
