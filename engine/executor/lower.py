"""Lowering: from a program's block 0 to instructions over registers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from operator import attrgetter
from typing import Any

from ..core import names, source
from ..core.collector import paused_gc
from ..core.errors import ExecutionError, FeedError, FetchError, did_you_mean
from ..ir.operator import Operator, mapped
from ..ir.program import Program
from ..ir.variable import DENSE, SELECTED_ROWS, Variable
from ..kernels.backend import Backend, Kernel
from ..ops.opdef import Trait
from . import control, effects, passes
from .plan import Instruction, Plan, explained

_SPEC = attrgetter("spec")


def lower(
    program: Program,
    fed: Iterable[str],
    fetched: Sequence[str],
    backend: Backend,
    chosen: Collection[str] = passes.ALL,
) -> Plan:
    """A plan that computes *fetched* and the program's persistable variables from *fed*.

    Every write gets a register of its own, so an overwritten variable needs no copy. A fed variable keeps its fed
    value even if an operator computes it; declared data and persistable variables may be overwritten
    (``assign(output=)``, ``increment``, updates of parameters).

    Args:
        chosen: the passes to go through; leaving some out costs time or memory, never a result.

    Raises:
        FetchError: a fetched name is no variable (a RuntimeError).
        FeedError: a data variable that is needed is not fed (a ValueError).
    """
    block = program.global_block()
    with paused_gc():
        repeated = {op.repeats for op in block.ops if op.repeats is not None}
        lowering = Lowering(set(fed), control.LoweringContext(backend, chosen), repeated)
        for op in block.ops:
            lowering.add(op)
        # What is wanted, and the instructions that lead to it.
        fetches = [lowering.fetch(name, program) for name in fetched]
        stores = {v.name: r for v, r in lowering.current.items() if v.persistable and lowering.initial.get(v) != r}
        wanted = {*fetches, *stores.values()}
        entering = set(lowering.initial.values())
        code = control.finish(lowering, wanted, lambda r: "free" in chosen and r not in entering)
        # What they read, and what is made of them.
        used = {r for i in code for r in i.ins} | set(fetches)
        _check_fed(lowering, used, code)
        feeds = {v.name: r for v, r in lowering.initial.items() if v.name in lowering.fed}
        stored = {v.name: r for v, r in lowering.initial.items() if v.persistable and r in used}
        loads = {name: r for name, r in stored.items() if name not in lowering.fed}
        code, constants, size = optimised(lowering, code, held=wanted, stored=set(stores.values()))
        return Plan(code, constants=constants, feeds=feeds, loads=loads, stores=stores, fetches=fetches, size=size)


def optimised(
    lowering: Lowering, code: list[Instruction], *, held: Collection[int], stored: set[int]
) -> tuple[list[Instruction], dict[int, Any], int]:
    """The instructions after the chosen passes, the constants that they read, and how many registers there are.

    Args:
        held: registers that somebody reads in the end.
        stored: those of them whose values outlive the run.
    """
    chosen, backend = lowering.context.chosen, lowering.context.backend
    constants: dict[int, Any] = {}
    size = lowering.size
    if "fold" in chosen:
        code, constants = passes.fold(code, keep=stored, backend=backend)
    stays = {*held, *constants, *lowering.initial.values()}
    if "release_shapes" in chosen:
        code, size = passes.release_shapes(code, stays | lowering.small, size, backend)
    if "free" in chosen:
        code = passes.free(code, stays)
    return code, constants, size


class Lowering:
    """Registers given out so far, for one block."""

    def __init__(self, fed: set[str], context: control.LoweringContext, repeated: Collection[Operator] = ()) -> None:
        self.fed = fed
        self.context = context
        self.controls: dict[int, control.Control] = {}
        """What runs blocks, by the identity of its instruction."""
        self.repeated = repeated
        """Operators that others run again."""
        self.code: list[Instruction] = []
        self.size = 0
        self.current: dict[Variable, int] = {}
        """The register that holds each variable's latest value."""
        self.initial: dict[Variable, int] = {}
        """The register of a value that is there before the first operator: fed or persistable."""
        self.unfed: dict[int, Variable] = {}
        """Registers of variables that are read although nothing has given them a value."""
        self.twins: dict[int, int] = {}
        """For registers of values that are computed again, the one that had the value first."""
        self._written: dict[Operator, tuple[int, ...]] = {}
        """What the operators that are run again later wrote the first time."""
        self.small: set[int] = set()
        """Registers of tensors too small to be worth letting go of early."""

    def _new(self) -> int:
        self.size += 1
        return self.size - 1

    def read(self, v: Variable, like: bool = False) -> int:
        """The register of *v*; for its shape only, that of the value which *v* repeats."""
        found = self.current.get(v)
        if found is None:
            found = self.current[v] = self.initial[v] = self._new()
            if v.name not in self.fed and not v.persistable:
                self.unfed[found] = v
        return self.twins.get(found, found) if like else found

    def first(self, v: Variable) -> int:
        """The register of the value that *v* has before the first operator."""
        found = self.initial.get(v)
        if found is None:
            found = self.initial[v] = self._new()
            self.current.setdefault(v, found)
        return found

    def write(self, v: Variable | None) -> int:
        new = self._new()
        if v is not None:
            if 0 <= v.spec.nbytes <= passes.SMALL:
                self.small.add(new)
            if v.name in self.fed and not (v.is_data or v.persistable):
                self.read(v)
            else:
                self.current[v] = new
        return new

    def fetch(self, name: str, program: Program) -> int:
        v = program.global_block().vars.get(name)
        if v is None or name == names.EMPTY:
            raise FetchError(
                f"cannot fetch {name!r}: no such variable in the program.",
                hint=did_you_mean(name, program.global_block().vars),
            )
        if v.kind not in (DENSE, SELECTED_ROWS):
            raise FetchError(f"cannot fetch {name!r}: it holds no tensor, but {v.kind}.")
        return self.read(v)

    def add(self, op: Operator) -> None:
        """Turn one operator into an instruction."""
        if op.op.holds_blocks:
            self._add_control(op)
            return
        backend = self.context.backend
        ins, arrange, likes = _inputs(self, op)
        outputs = _flat(op.outputs)
        wanted = _wanted(op) if op.op.forward is not None else None
        kernel = effects.kernel(op) if op.op.has_effect else None
        if kernel is None:
            try:
                kernel = backend.bind(op.op, op.attrs, wanted, mapped(op.inputs, _SPEC), mapped(op.outputs, _SPEC))
            except Exception as error:  # no shape rule has seen the attributes of a gradient operator from a file
                raise explained(error, op, list(op.input_variables())) from error
        if arrange is not None:
            kernel = arrange(kernel)
        single = len(op.outputs) == 1 and not isinstance(op.outputs[0], tuple)
        if not single:
            kernel = _spreading(kernel, op)
        outs = tuple(self.write(v) for v in outputs)
        if op in self.repeated:
            self._written[op] = outs
        if op.repeats in self._written:
            self.twins.update(zip(outs, self._written[op.repeats], strict=True))
        effect = op.op.has_effect and self.context.effects(op)
        self.code.append(Instruction(op, kernel, ins, outs, likes, not single, effect=effect))

    def _add_control(self, op: Operator) -> None:
        """An operator that runs a block: its kernel is made when it is known who needs what."""
        made = control.Control(op, self)
        outs = tuple(self.write(v) for v in _flat(op.outputs))
        effect = self.context.effects(op)
        instruction = Instruction(op, _unfinished, tuple(made.ins), outs, spread=True, effect=effect)
        made.instruction = instruction
        self.controls[id(instruction)] = made
        self.code.append(instruction)


def _unfinished(*operands: Any) -> Any:
    raise ExecutionError("an operator with a block was not lowered")


def _flat(operands: Sequence[Any]) -> list[Variable | None]:
    flat: list[Variable | None] = []
    for v in operands:
        flat.extend(v) if isinstance(v, tuple) else flat.append(v)
    return flat


def _wanted(op: Operator) -> list[list[bool]]:
    """Which gradients a gradient operator has to compute."""
    return [[e is not None for e in v] if isinstance(v, tuple) else [v is not None] for v in op.outputs]


def _inputs(
    lowering: Lowering, op: Operator
) -> tuple[tuple[int, ...], Callable[[Kernel], Kernel] | None, frozenset[int]]:
    """Input registers, how to arrange them for the kernel (None: as they are), and which are read for their shape."""
    reads = op.op.forward.rule.reads if op.op.forward is not None and op.op.forward.rule is not None else ()
    shapes_only = Trait.LIKE in op.op.trait
    ins: list[int] = []
    likes: set[int] = set()
    plain = True
    layout: list[Any] = []
    for i, value in enumerate(op.inputs):
        like = shapes_only or (bool(reads) and reads[i].like)
        if isinstance(value, tuple):
            plain = False
            places: list[int | None] = []
            for e in value:
                places.append(None if e is None else len(ins))
                if e is not None:
                    if like:
                        likes.add(len(ins))
                    ins.append(lowering.read(e, like))
            layout.append(places)
        elif value is None:
            plain = False
            layout.append(None)
        else:
            layout.append(len(ins))
            if like:
                likes.add(len(ins))
            ins.append(lowering.read(value, like))
    for slot in op.op.inputs[len(op.inputs) :]:
        plain = False
        layout.append([] if slot.many else None)
    if plain:
        return tuple(ins), None, frozenset(likes)

    def arrange(kernel: Kernel) -> Kernel:
        if layout and layout[0] == 0 and all(p is None for p in layout[1:]):
            nothing = (None,) * (len(layout) - 1)
            return lambda x: kernel(x, *nothing)
        if len(layout) == 1 and all(p is not None for p in layout[0]):
            return lambda *arrays: kernel(arrays)

        def pick(arrays: tuple[Any, ...], place: Any) -> Any:
            if isinstance(place, list):
                return [None if p is None else arrays[p] for p in place]
            return None if place is None else arrays[place]

        return lambda *arrays: kernel(*[pick(arrays, p) for p in layout])

    return tuple(ins), arrange, frozenset(likes)


def _spreading(kernel: Kernel, op: Operator) -> Kernel:
    """A kernel that returns all its results as one flat sequence, in the order of the operator's outputs."""
    sizes = [len(v) if isinstance(v, tuple) else None for v in op.outputs]
    if all(s is None for s in sizes):
        return kernel
    if len(sizes) == 1:
        return kernel

    def spread(*arrays: Any) -> list[Any]:
        flat: list[Any] = []
        for size, value in zip(sizes, kernel(*arrays), strict=True):
            if size is None:
                flat.append(value)
            else:
                flat.extend(value if value is not None else [None] * size)
        return flat

    return spread


def _check_fed(lowering: Lowering, used: set[int], code: list[Instruction]) -> None:
    missing = {r: v for r, v in lowering.unfed.items() if r in used}
    if not missing:
        return
    register, variable = next(iter(missing.items()))
    reader = next((i.op for i in code if register in i.ins), None)
    listed = ", ".join(repr(v.name) for v in missing.values())
    raise FeedError(
        f"not fed: {listed}" if variable.is_data else f"{listed} is read before anything writes it",
        op=reader.summary() if reader is not None else None,
        variable=variable.name,
        made=source.describe(variable.made_at),
        hint=f"pass feed={{{variable.name!r}: array of {variable.spec}}}",
    )
