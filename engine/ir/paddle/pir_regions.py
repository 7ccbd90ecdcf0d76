"""Operators of the new IR that hold regions: ``if`` and ``while``, as blocks.

A region has one block. It reads what stands around it, is given values with numbers below 0, and ends with a ``yield``
of what it returns: results of a branch, or whether to go on and the values of the next round. Here branches are two
``conditional_block`` with a ``select_input`` for each result, as ``static.nn.cond`` makes them; a loop is a ``while``
that overwrites variables of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from ...core.source import NOWHERE
from ...core.spec import TensorSpec
from ..assemble import DEEPEST
from ..holders import close_conditional, close_loop
from ..operator import Operator
from ..program import Block
from ..variable import ARRAY, Variable
from ..verify import compatible

if TYPE_CHECKING:
    from .from_pir import PirReader

_YIELD: Final = "2.yield"


def keep_before(reader: PirReader, block: Block, entry: Any) -> None:
    """Before an operator whose regions write in place what stands around it: give what they write its own variable.

    So what reads the former value, before it or in its gradient, finds it where it was.
    """
    if "regions" not in entry:
        return
    for inner in reader.inner_operations(entry):
        target = reader.in_place_operand(inner)
        value = reader.values.get(target)
        if value is None or value.many is not None or (value.variable is None and value.constant is None):
            continue
        v = reader.tensor(block, target)
        if v.block is block and v.kind != ARRAY:
            reader.values[target] = value._replace(variable=copy_variable(reader, block, v), constant=None)


def copy_variable(reader: PirReader, block: Block, v: Variable, stem: str = "kept") -> Variable:
    """A variable with the value of *v*."""
    own = reader.new(block, stem, v)
    reader.append(block, "assign", {"X": v}, own)
    return own


def branch(reader: PirReader, block: Block, entry: Any, attrs: Mapping[str, Any]) -> None:
    """``if``: what one of two regions returns."""
    reads, regions = reader.reads(entry), reader.regions_of(entry)
    if len(reads) != 1 or len(regions) != 2:
        reader.fail(f"a branch of {len(reads)} conditions and {len(regions)} regions")
    condition = reader.tensor(block, reads[0])
    otherwise = reader.new(block, "logical_not", condition)
    reader.append(block, "logical_not", {"X": condition}, otherwise)
    on_true = _side(reader, block, regions[0], condition)
    on_false = _side(reader, block, regions[1], otherwise)
    results = reader.results(block, "if", entry)
    if not len(on_true) == len(on_false) == len(results):
        reader.fail(f"branches with {len(on_true)} and {len(on_false)} results, where {len(results)} are listed")
    if not results:
        return
    mask = reader.new(block, "cast", condition)
    mask.spec = TensorSpec(condition.shape, "int32")
    codes = {"in_dtype": condition.dtype.code, "out_dtype": mask.dtype.code}
    reader.append(block, "cast", {"X": condition}, mask, **codes)
    for held, one, other in zip(results, on_true, on_false, strict=True):
        for v in held[:1]:
            reader.append(block, "select_input", {"X": [other, one], "Mask": mask}, v)


def _side(reader: PirReader, block: Block, region: Any, decides: Variable) -> list[Variable]:
    """Read one region of a branch; returns its results as variables around it."""
    inside = reader.program._create_block()
    results = []
    for number in _read(reader, inside, region):
        value = reader.tensor(inside, number)
        out = reader.new(block, "branch", value)
        reader.append(inside, "assign", {"X": value}, out)
        results.append(out)
    reader.program._rollback()
    _clear_place(close_conditional(block, inside, decides))
    return results


def loop(reader: PirReader, block: Block, entry: Any, attrs: Mapping[str, Any]) -> None:
    """``while``: its results are variables that a ``while`` overwrites, which begin as copies of what it is given."""
    reads, regions = reader.reads(entry), reader.regions_of(entry)
    if not reads or len(regions) != 1:
        reader.fail(f"a loop of {len(reads)} operands and {len(regions)} regions")
    given = [reader.tensor(block, number) for number in reads]
    going = copy_variable(reader, block, given[0], "going")
    results = [next(iter(held), None) for held in reader.results(block, "while", entry)]
    arguments = reader.arguments(regions[0])
    if not len(arguments) == len(results) == len(given) - 1:
        reader.fail(f"a loop of {len(given) - 1} values, {len(arguments)} in its region and {len(results)} results")
    carried: list[Variable] = []
    for number, v, before in zip(arguments, results, given[1:], strict=True):
        if v is None or v.kind != before.kind or not compatible(v.spec, before.spec):
            reader.fail(f"a loop that makes {v} of '{before.name}'")
        reader.append(block, "assign", {"X": before}, v)
        reader.bind_variable(number, v)
        carried.append(v)

    inside = reader.program._create_block()
    ends = [reader.tensor(inside, number) for number in _read(reader, inside, regions[0])]
    if len(ends) != len(carried) + 1:
        reader.fail(f"a region that returns {len(ends)} values to a loop of {len(carried)}")
    overwritten = set(carried)
    pairs = list(zip(ends[1:], carried, strict=True))
    pairs = [(copy_variable(reader, inside, x) if x in overwritten and x is not v else x, v) for x, v in pairs]
    for x, v in ((ends[0], going), *pairs):
        if x is not v:
            reader.append(inside, "assign", {"X": x}, v)
    reader.program._rollback()
    _clear_place(close_loop(block, inside, going, is_test=False))


def _read(reader: PirReader, inside: Block, region: Any) -> list[int]:
    """Read the operators of a region into the block *inside*; returns the numbers that it ends with."""
    if reader.depth == DEEPEST:
        reader.fail(f"more than {DEEPEST} regions inside each other")
    reader.depth += 1
    *ops, last = reader.ops_of(region) or [None]
    for entry in ops:
        reader.operation(inside, entry)
    reader.depth -= 1
    if reader.take(last, "#", str) != _YIELD:
        reader.fail("a region that does not end with what it returns")
    return reader.reads(last)


def _clear_place(op: Operator) -> None:
    """The file does not say which line made an operator."""
    op.loc, op.scope = NOWHERE, "/"


REGIONS: Final = {("1", "if"): branch, ("1", "while"): loop}
"""Dialect and name of what holds regions that become blocks."""
