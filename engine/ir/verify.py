"""Invariants of programs: what every pass may rely on and must keep.

Each invariant is a small named function that yields what is wrong. :func:`verify` runs them all; with
``GRADTOOL_VERIFY=1`` in the environment it runs after every function that changes a whole program (``checking.py``).
Readers of programs run those that a file can break (:func:`verify_read`): what parses and cannot run is refused there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

from ..core import source
from ..core.errors import GradtoolError, ProgramError
from ..core.identity import identity
from ..core.spec import UNKNOWN, TensorSpec
from ..ops.opdef import Slot
from . import blocks, build, roles
from .operator import Operands, Operator, map_operands
from .program import Block, Program
from .variable import DENSE, Variable

_SPEC = attrgetter("spec")

Problem = tuple[str, Operator | Variable | None]
"""What is wrong, and where, if one operator or variable is to blame."""

Invariant = Callable[[Program], Iterator[Problem]]

INVARIANTS: dict[str, Invariant] = {}
OF_FILES: list[str] = []
"""The invariants that a file can break: the others hold for whatever a reader of programs puts together."""


class BrokenProgram(ProgramError):
    """A program that breaks an invariant: a mistake of gradtool, or of code that changed the program by hand.

    Attributes:
        broken: the name of the invariant that does not hold.
    """

    code = "GT-E110"

    def __init__(self, message: str, broken: str, **facts: Any) -> None:
        super().__init__(message, **facts)
        self.broken = broken


def invariant(name: str, *, of_files: bool = False) -> Callable[[Invariant], Invariant]:
    def add(check: Invariant) -> Invariant:
        INVARIANTS[name] = check
        if of_files:
            OF_FILES.append(name)
        return check

    return add


def problems(
    program: Program, invariants: Iterable[str] = INVARIANTS
) -> Iterator[tuple[str, str, Operator | Variable | None]]:
    """Yield what is wrong: the invariant's name, a description, and the operator or variable.

    Each invariant relies on those before it, so the first one that does not hold is the last one looked at.
    """
    for name in invariants:
        sound = True
        for text, where in INVARIANTS[name](program):
            sound = False
            yield name, text, where
        if not sound:
            return


def verify(program: Program, after: str = "") -> None:
    """Check the invariants.

    Args:
        after: what was done to the program last, for the message.

    Raises:
        BrokenProgram: one does not hold; the message lists what is wrong.
    """
    listed = list(problems(program))
    if not listed:
        return
    lines = [text for _, text, _ in listed[:_SHOWN]]
    if len(listed) > _SHOWN:
        lines.append(f"and {len(listed) - _SHOWN} more")
    where = listed[0][2]
    raise BrokenProgram(
        f"the program is not sound{f' after {after}' if after else ''}: {listed[0][0]}, but {'; '.join(lines)}",
        listed[0][0],
        op=where.summary() if isinstance(where, Operator) else None,
        variable=where.name if isinstance(where, Variable) else None,
        made=source.describe(where.made_at if isinstance(where, Variable) else where.loc) if where else None,
    )


_SHOWN = 5


def verify_read(program: Program) -> Program:
    """*program*, as a reader made it of a file.

    Raises:
        ProgramError: it cannot run; says which operator or variable is to blame.
    """
    for name, text, where in problems(program, OF_FILES):
        at = f" (operator {where.summary()})" if isinstance(where, Operator) else ""
        raise ProgramError(f"{name}, but {text}{at}")
    return program


# -- blocks -------------------------------------------------------------------------------------------------------


@invariant("blocks are numbered")
def _(program: Program) -> Iterator[Problem]:
    for i, block in enumerate(program.blocks):
        if block.idx != i or block.program is not program:
            yield f"block {block.idx} stands at {i}", None
        if block.parent_idx >= i or (block.parent_idx < 0) != (i == 0):
            yield f"block {i} has block {block.parent_idx} as its parent", None
        for what in (block.forward_block_idx, block.backward_block_idx):
            if not -1 <= what < len(program.blocks):
                yield f"block {i} names block {what}, which does not exist", None


@invariant("nothing is half built")
def _(program: Program) -> Iterator[Problem]:
    for block in program.blocks:
        if block.pending:
            yield f"block {block.idx} holds {len(block.pending)} operators that were not committed", None


@invariant("a block holds its variables under their names")
def _(program: Program) -> Iterator[Problem]:
    for block in program.blocks:
        for name, v in block.vars.items():
            if v.name != name:
                yield f"'{v.name}' is kept under the name '{name}'", v
            if v.block is not block:
                yield f"'{name}' belongs to another block than the one that holds it", v


@invariant("a tensor fits into a memory", of_files=True)
def _(program: Program) -> Iterator[Problem]:
    for v in program.list_vars():
        size = v.dtype.size
        for d in v.shape:
            size *= max(d, 1)
        if size > _ADDRESSES or any(d < UNKNOWN for d in v.shape):
            yield f"'{v.name}' has the shape {list(v.shape)}", v


_ADDRESSES = 2**48
"""Bytes that a processor can address: whatever a tensor's unknown dimensions are, it is not larger."""


def _ops(program: Program) -> Iterator[Operator]:
    for block in program.blocks:
        yield from block.ops


# -- operators ----------------------------------------------------------------------------------------------------


@invariant("an operator stands in its block, once")
def _(program: Program) -> Iterator[Problem]:
    seen: set[Operator] = set()
    for block in program.blocks:
        for op in block.ops:
            if op.block is not block:
                yield f"{op.type} stands in block {block.idx}, but belongs to another", op
            if op in seen:
                yield f"{op.type} stands in the program twice", op
            seen.add(op)


@invariant("slots fit the definition")
def _(program: Program) -> Iterator[Problem]:
    for op in _ops(program):
        if len(op.outputs) != len(op.op.outputs):
            yield f"{op.type} has {len(op.outputs)} output slots, its definition {len(op.op.outputs)}", op
        if len(op.inputs) > len(op.op.inputs):
            yield f"{op.type} has {len(op.inputs)} input slots, its definition {len(op.op.inputs)}", op
        for slot in op.op.inputs[len(op.inputs) :]:
            if not (slot.optional or slot.many) and op.op.forward is None:
                yield f"input {slot.name} of {op.type} is missing", op
        yield from _misfits(op, "input", op.op.inputs, op.inputs)
        yield from _misfits(op, "output", op.op.outputs, op.outputs)


def _misfits(op: Operator, what: str, slots: Sequence[Slot], operands: Operands) -> Iterator[Problem]:
    for slot, value in zip(slots, operands, strict=False):
        why = _misfit(slot, value, gradient=op.op.forward is not None)
        if why is not None:
            yield f"{what} {slot.name} of {op.type} {why}", op if why != _STRANGE else None


@invariant("an operator writes a variable once", of_files=True)
def _(program: Program) -> Iterator[Problem]:
    for op in _ops(program):
        written = list(op.output_variables())
        if len(set(written)) != len(written):
            yield f"{op.type} writes a variable twice", op


_STRANGE = "holds something that is no variable"


def _misfit(slot: Slot, value: Any, gradient: bool) -> str | None:
    entries = value if isinstance(value, tuple) else (value,)
    if not all(isinstance(e, (Variable, type(None))) for e in entries):
        return _STRANGE
    if value is None:
        return None if slot.optional or slot.many or gradient else "is empty"
    if isinstance(value, tuple) and not slot.many:
        return "holds a list, but takes one variable"
    if isinstance(value, Variable) and slot.many:
        return "holds one variable, but takes a list"
    return None


@invariant("operands belong to the program")
def _(program: Program) -> Iterator[Problem]:
    for block in program.blocks:
        for op in block.ops:
            for v in (*op.input_variables(), *op.output_variables()):
                if block.vars.get(v.name) is not v and block._find_var_recursive(v.name) is not v:
                    yield f"'{v.name}' of {op.type} is not the variable that block {block.idx} finds by that name", op


@invariant("attributes fit the definition", of_files=True)
def _(program: Program) -> Iterator[Problem]:
    for op in _ops(program):
        if op.attrs.keys() != op.op.defaults.keys():
            names = ", ".join(sorted(op.attrs.keys() ^ op.op.defaults.keys()))
            yield f"{op.type} has more or fewer attributes than it takes: {names}", op
            continue
        try:
            filled = op.op.attributes(op.attrs)
        except GradtoolError as error:
            yield error.message, op
            continue
        for name, value in op.attrs.items():
            if type(filled[name]) is not type(value):
                yield f"attribute {name} of {op.type} is {value!r}, not {filled[name]!r}", op


@invariant("roles are known", of_files=True)
def _(program: Program) -> Iterator[Problem]:
    for op in _ops(program):
        if op.role & ~roles.ALL:
            yield f"{op.type} has the unknown role {op.role}", op
        if len(op.role_var) % 2:
            yield f"op_role_var of {op.type} does not go two by two: {list(op.role_var)}", op
        for name in op.role_var:
            if op.block._find_var_recursive(name) is None:
                yield f"op_role_var of {op.type} names '{name}', which does not exist", op


@invariant("gradient operators know their forward operator")
def _(program: Program) -> Iterator[Problem]:
    there = set(_ops(program))
    for op in there:
        if op.origin is not None and op.origin not in there:
            yield f"{op.type} differentiates {op.origin.summary()}, which is not in the program", op
        if op.repeats is not None and op.repeats not in there:
            yield f"{op.type} computes {op.repeats.summary()} again, which is not in the program", op


# -- variables ----------------------------------------------------------------------------------------------------


@invariant("a variable knows its last writer")
def _(program: Program) -> Iterator[Problem]:
    last: dict[Variable, Operator] = {}
    for op in _ops(program):
        for v in op.output_variables():
            if v.block is op.block:
                last[v] = op
    for v in program.list_vars():
        right = last.get(v)
        if v.op is not right:
            yield f"'{v.name}' is written last by {_summary(right)}, not by {_summary(v.op)}", v


def _summary(op: Operator | None) -> str:
    return "no operator" if op is None else op.summary()


@invariant("parameters are known", of_files=True)
def _(program: Program) -> Iterator[Problem]:
    for block in program.blocks:
        for p in block.all_parameters():
            if block.idx != 0:
                yield f"parameter '{p.name}' is in block {block.idx}, not in block 0", p
            if any(d < 0 for d in p.shape):
                yield f"the shape {list(p.shape)} of parameter '{p.name}' is not known", p


@invariant("a block belongs to one operator", of_files=True)
def _(program: Program) -> Iterator[Problem]:
    owners: dict[int, Operator] = {}
    for op in _ops(program):
        for block in op.sub_blocks:
            if not (block.program is program and program.blocks[block.idx] is block):
                yield f"{op.type} refers to a block of another program", op
            elif block.parent_idx != op.block.idx and block.forward_block_idx < 0:
                yield f"{op.type} of block {op.block.idx} refers to block {block.idx}, which is not inside it", op
            elif owners.setdefault(block.idx, op) is not op and not op.type.startswith("pylayer"):
                yield f"block {block.idx} belongs to two operators", op


@invariant("an operator names what its block uses", of_files=True)
def _(program: Program) -> Iterator[Problem]:
    for op in _ops(program):
        if not op.op.holds_blocks or op.op.forward is not None or op.type == "block_grad":
            continue  # a backward block also finds what the forward block left
        for block in op.sub_blocks[:1]:
            for v in _find_unlisted(blocks.reads(block), op.input_variables()):
                yield f"block {block.idx} reads '{v.name}', which {op.type} does not name", op
            for v in _find_unlisted(blocks.writes(block), op.output_variables()):
                yield f"block {block.idx} writes '{v.name}', which {op.type} does not name", op


def _find_unlisted(used: Iterable[Variable], operands: Iterable[Variable]) -> list[Variable]:
    listed = set(operands)
    return [v for v in used if v not in listed]


MISFITS = (
    *(ValueError, TypeError, LookupError, ArithmeticError, AttributeError, AssertionError, StopIteration),
    *(GradtoolError, MemoryError),
)
"""What rules for shapes and blocks raise over values that no function of gradtool would have put there."""


@invariant("a block runs as its operator says", of_files=True)
def _(program: Program) -> Iterator[Problem]:
    for op in _ops(program):
        if op.op.holds_blocks and op.type in blocks.RUNNING:
            yield from _loop_problems(program, op)


def _loop_problems(program: Program, op: Operator) -> Iterator[Problem]:
    try:
        region = blocks.region(op)
        blocks.run_by(op)
    except MISFITS:
        yield f"what {op.type} names does not fit its block", op
        return
    starts = {c.start for c in region.carried}
    early = () if region.frames else _read_too_early(region.block)
    for v in early:
        if v not in starts:
            yield f"block {region.block.idx} reads '{v.name}' before it is written there", op
    if any(isinstance(v, Variable) and v.block.program is not program for v in starts):
        yield f"{op.type} carries a variable of another program", op


def _read_too_early(block: Block) -> list[Variable]:
    """Variables of the block itself that one of its operators reads before another one writes them."""
    written: set[Variable] = set()
    early: dict[Variable, None] = {}
    for op in block.ops:
        for v in op.input_variables():
            if v.block is block and v not in written and not v.persistable and v.kind == DENSE:
                early[v] = None
        written.update(op.output_variables())
    return list(early)


@invariant("a branch or a loop reads what is there", of_files=True)
def _(program: Program) -> Iterator[Problem]:
    body = program.blocks[0]
    if not any(op.op.holds_blocks for op in body.ops):
        return
    later = {v for op in body.ops for v in op.output_variables() if not (v.is_data or v.persistable)}
    for op in body.ops:
        if op.op.holds_blocks:
            for v in op.input_variables():
                if v in later and v.kind == DENSE:
                    yield f"{op.type} reads '{v.name}', which is not written yet", op
        later.difference_update(op.output_variables())


@invariant("specs match inference", of_files=True)
def _(program: Program) -> Iterator[Problem]:
    inferred: dict[Any, Any] = {}  # operators of one kind share their attributes, and often the specs of their inputs
    for op in _ops(program):
        if not op.op.infers:
            continue
        if op.op.forward is not None:
            yield from _gradient_specs(op)
            continue
        key = op.op, map_operands(op.inputs, _SPEC), identity(op.attrs)
        try:
            if key not in inferred:
                inferred[key] = build.infer(op.op, op.inputs, op.attrs)
        except MISFITS as error:
            said = error.message if isinstance(error, GradtoolError) else f"{type(error).__name__}: {error}"
            yield f"{op.type} does not accept its inputs: {said}", op
            continue
        for v, spec in _pairs(op.outputs, inferred[key]):
            if v.op is op and not compatible(v.spec, spec):
                yield f"'{v.name}' is {v.spec}, but {op.type} computes {spec}", op


def _gradient_specs(op: Operator) -> Iterator[Problem]:
    """A gradient has the spec of what it is the gradient of."""
    origin, rule = op.origin, op.op.forward.rule if op.op.forward is not None else None
    if origin is None or rule is None or origin.op is not op.op.forward:
        return
    for i, value in zip(rule.wrt, op.outputs, strict=True):
        if i >= len(origin.inputs):
            continue  # an optional input at the end that was left out
        for v, spec in _pairs((value,), (_specs(origin.inputs[i]),)):
            if not compatible(v.spec, spec):
                yield f"'{v.name}' is {v.spec}, but it is a gradient of {spec}", op


def _specs(value: Any) -> Any:
    return map_operands((value,), _SPEC)[0]


def _pairs(operands: Operands, specs: Any) -> Iterator[tuple[Variable, TensorSpec]]:
    for value, spec in zip(operands, specs, strict=False):
        if spec is None:
            continue  # the gradient of an input that was left out
        if isinstance(value, tuple):
            yield from ((v, s) for v, s in zip(value, spec, strict=False) if v is not None and s is not None)
        elif value is not None:
            yield value, spec


def compatible(a: TensorSpec, b: TensorSpec) -> bool:
    if a.dtype is not b.dtype or a.ndim != b.ndim:
        return False
    return all(m == n or UNKNOWN in (m, n) for m, n in zip(a.shape, b.shape, strict=True))
