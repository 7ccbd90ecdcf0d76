"""Blocks inside operators: what they read and write, and how an operator runs its block.

:func:`region` gives every operator with a block one form, whatever its slots are called: a block that runs once, as
long as a condition holds, or once for each run of a forward operator's block; variables that are carried from one run
to the next; values that are added up over the runs; and *frames*, in which each run leaves the values that backward
operators need. The backward pass and the executor work on that form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from itertools import chain

from ..core import names
from ..core.records import dataclass
from .operator import Operator
from .program import Block, Program
from .variable import STEP_SCOPES, Variable

__all__ = [
    "RUNNING",
    "STEP_SCOPES",
    "BlockCarry",
    "Region",
    "enter",
    "is_around",
    "leave",
    "one",
    "reads",
    "region",
    "run_by",
    "slot",
    "writes",
]


def reads(block: Block) -> list[Variable]:
    """Variables of other blocks that *block* reads before it writes them itself, inner blocks included, in order."""
    outside: dict[Variable, None] = {}
    written: set[Variable] = set()
    for op in block.ops:
        read = chain(op.input_variables(), *map(reads, op.sub_blocks))
        outside.update((v, None) for v in read if v.block is not block and v not in written)
        written.update(op.output_variables())
    return list(outside)


def writes(block: Block) -> list[Variable]:
    """Variables of other blocks that *block* writes, in order."""
    return list({v: None for op in block.ops for v in op.output_variables() if v.block is not block})


def is_around(outer: Block, block: Block) -> bool:
    """Return whether *block* stands inside *outer*."""
    index = block.parent_idx
    while index >= 0:
        if index == outer.idx:
            return True
        index = _parent(block, index)
    return False


def _parent(block: Block, index: int) -> int:
    blocks = block.program.blocks
    return blocks[index].parent_idx if index < len(blocks) else -1


def enter(new: Sequence[Block]) -> None:
    """Enter blocks of gradients that were made outside their program, in the order of their indices."""
    for block in new:
        block.program.blocks.append(block)
    for block in new:
        block.program.blocks[block.forward_block_idx].backward_block_idx = block.idx


def leave(program: Program, ops: Iterable[Operator]) -> None:
    """Take the blocks of *ops*, which the program does not hold any more, out of it; the others are numbered anew."""
    gone = _blocks_of(ops)
    if not gone:
        return
    program.blocks = [b for b in program.blocks if b not in gone]
    numbers = {b.idx: i for i, b in enumerate(program.blocks)}
    for block in program.blocks:
        block.idx = numbers[block.idx]
        block.parent_idx = numbers.get(block.parent_idx, -1)
        block.forward_block_idx = numbers.get(block.forward_block_idx, -1)
        block.backward_block_idx = numbers.get(block.backward_block_idx, -1)
    program.version += 1


def _blocks_of(ops: Iterable[Operator]) -> set[Block]:
    """The blocks that belong to *ops*, and to the operators in them."""
    held: set[Block] = set()
    todo = [op for op in ops if op.op.holds_blocks]
    while todo:
        op = todo.pop()
        own = [block for block in op.sub_blocks if block.owner is op]
        held.update(own)
        todo += [inner for inner in chain.from_iterable(b.ops for b in own) if inner.op.holds_blocks]
    return held


@dataclass(slots=True)
class BlockCarry:
    """A value that goes through the runs of a block.

    Attributes:
        before: the variable around the operator that holds it first; None for zeros, or for nothing yet.
        start: the variable that holds it when a run begins.
        end: the variable that holds it when a run ends.
        result: the variable around the operator that gets it in the end; None when nobody wants it.
        like: for zeros, a variable of the shape that they have.
    """

    before: Variable | None
    start: Variable | None
    end: Variable | None
    result: Variable | None
    like: Variable | None = None


@dataclass(slots=True)
class Region:
    """An operator's block and how it runs.

    Attributes:
        condition: of a forward operator: the variable that says whether to run (again); None: run once.
        loops: whether the condition is looked at again after each run.
        carried: see :class:`BlockCarry`.
        sums: ``(inside, result, like)``: what is added up over the runs, and a variable of its shape.
        frames: of a backward operator: the variables with the frames that it reads, the oldest first. It runs once
            per frame.
        backwards: whether it takes the frames from the last to the first.
        scope: the variable that its own frames go to.
    """

    op: Operator
    block: Block
    condition: Variable | None = None
    loops: bool = False
    carried: list[BlockCarry] = field(default_factory=list)
    sums: list[tuple[Variable, Variable, Variable]] = field(default_factory=list)
    frames: tuple[Variable, ...] = ()
    backwards: bool = False
    scope: Variable | None = None

    def start_of(self, v: Variable) -> bool:
        """Return whether the variable is one of those that a run finds set from the run before."""
        return any(c.start is v for c in self.carried)


def region(op: Operator) -> Region:
    """The block of *op* and how it runs."""
    return _REGIONS[op.type](op)


def run_by(op: Operator) -> tuple[Operator, bool]:
    """Return the operator whose runs those of *op*'s block follow: the forward operator; and whether it loops."""
    runs = region(op)
    while runs.frames:
        owner = runs.frames[0].op
        assert owner is not None, "frames are written by the operator that they belong to"
        runs = region(owner)
    return runs.op, runs.loops


def slot(op: Operator, name: str) -> tuple[Variable | None, ...]:
    """The variables in an input or output slot, as a tuple."""
    index, values = (op.op.input_index, op.inputs) if name in op.op.input_index else (op.op.output_index, op.outputs)
    value = values[index[name]] if index[name] < len(values) else None
    if isinstance(value, tuple):
        return value
    return () if value is None else (value,)


def one(op: Operator, name: str) -> Variable | None:
    """The variable in a slot for one."""
    return next(iter(slot(op, name)), None)


def _conditional_block(op: Operator) -> Region:
    read = set(slot(op, "Input"))
    return Region(
        op,
        op.attrs["sub_block"],
        condition=one(op, "Cond"),
        carried=[BlockCarry(v if v in read else None, v, v, v) for v in slot(op, "Out")],
        scope=one(op, "Scope"),
    )


def _while(op: Operator) -> Region:
    return Region(
        op,
        op.attrs["sub_block"],
        condition=one(op, "Condition"),
        loops=True,
        carried=[BlockCarry(v, v, v, v) for v in slot(op, "Out")],
        scope=one(op, "StepScopes"),
    )


def _pylayer(op: Operator) -> Region:
    return Region(
        op,
        op.attrs["blocks"][0],
        carried=[BlockCarry(None, v, v, v) for v in slot(op, "Out")],
        scope=one(op, "Scope"),
    )


def _sums(
    block: Block, inputs: Sequence[Variable | None], results: Sequence[Variable | None], without: set[Variable]
) -> list[tuple[Variable, Variable, Variable]]:
    """Return what a backward block computes for inputs that it does not carry, under the gradient's plain name.

    Where a block inside it has that name, it has the one that a further call of ``gradients`` would give.
    """
    sums = []
    for v, result in zip(inputs, results, strict=True):
        if v is None or result is None or v in without:
            continue
        plain = names.grad(v.name)
        inside = block.vars[plain] if plain in block.vars else _last_prefix_gradient(block, plain)
        if inside is not None:
            sums.append((inside, result, v))
    return sums


def _last_prefix_gradient(block: Block, plain: str) -> Variable | None:
    """The gradient with a prefix before its plain name, the last of several; no summand of one."""
    names_ = (n for n in reversed(block.vars) if n.startswith("grad/") and not names.is_part(n))
    return next((block.vars[n] for n in names_ if names.plain(n) == plain), None)


def _conditional_block_grad(op: Operator) -> Region:
    block = op.attrs["sub_block"]
    scope = one(op, "Scope")
    return Region(
        op,
        block,
        carried=[BlockCarry(v, v, v, v) for v in slot(op, "Written")],
        sums=_sums(block, slot(op, "Input"), slot(op, "Input@GRAD"), set()),
        frames=(scope,) if scope is not None else (),
        backwards=True,
        scope=one(op, "Frames"),
    )


def _while_grad(op: Operator) -> Region:
    block = op.attrs["sub_block"]
    outputs = set(slot(op, "Out"))
    arriving = {names.forward(g.name): g for g in slot(op, "Out@GRAD") if g is not None}
    inputs, results = slot(op, "X"), slot(op, "X@GRAD")
    carried = []
    for v, result in zip(inputs, results, strict=True):
        if v is None or v not in outputs:
            continue
        before = arriving.get(v.name)
        start = before if before is not None else block.vars.get(names.grad(v.name))
        if start is not None:
            carried.append(BlockCarry(before, start, start, result, like=v))
    scope = one(op, "StepScopes")
    return Region(
        op,
        block,
        carried=carried,
        sums=_sums(block, inputs, results, {v for v in outputs if v is not None}),
        frames=(scope,) if scope is not None else (),
        backwards=True,
        scope=one(op, "Frames"),
    )


def _block_grad(op: Operator) -> Region:
    block = op.attrs["sub_block"]
    find = block._find_var_recursive
    befores, afters = slot(op, "Before"), slot(op, "After")
    names_ = zip(op.attrs["starts"], op.attrs["ends"], op.attrs["likes"], strict=True)
    carried = [
        BlockCarry(before, find(start), find(end), after, find(like))
        for before, after, (start, end, like) in zip(befores, afters, names_, strict=True)
    ]
    sums = [
        (block.vars[inside], result, block._var_recursive(like))
        for inside, result, like in zip(op.attrs["sums"], slot(op, "Sum"), op.attrs["sum_likes"], strict=True)
        if result is not None
    ]
    return Region(
        op,
        block,
        carried=carried,
        sums=sums,
        frames=tuple(v for v in slot(op, "Scopes") if v is not None),
        backwards=op.attrs["backwards"],
        scope=one(op, "Scope"),
    )


def _pylayer_grad(op: Operator) -> Region:
    block = op.attrs["backward_block"]
    scope = one(op, "Scope")
    forward = block.program.blocks[block.forward_block_idx]
    owner = next(o for o in block.program.blocks[forward.parent_idx].ops if forward in o.sub_blocks)
    carried = []
    for v, g in zip(slot(owner, "Out"), slot(op, "Out@GRAD"), strict=True):
        if v is not None:
            inside = block.vars.get(names.grad(v.name))
            carried.append(BlockCarry(g, inside, None, None, like=v))
    return Region(
        op,
        block,
        carried=carried,
        sums=_sums(block, slot(op, "Input"), slot(op, "Input@GRAD"), set()),
        frames=(scope,) if scope is not None else (),
        backwards=True,
    )


_REGIONS: dict[str, Callable[[Operator], Region]] = {
    "block_grad": _block_grad,
    "conditional_block": _conditional_block,
    "conditional_block_grad": _conditional_block_grad,
    "pylayer": _pylayer,
    "pylayer_grad": _pylayer_grad,
    "while": _while,
    "while_grad": _while_grad,
}
RUNNING = frozenset(_REGIONS)
"""The types of the operators that run a block."""
