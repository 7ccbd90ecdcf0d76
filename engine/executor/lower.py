"""Lowering: from a program's block 0 to instructions over registers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import count, repeat
from operator import attrgetter
from typing import Any

from ..core import names, source
from ..core.collector import pause_gc
from ..core.errors import ExecutionError, FeedError, FetchError, did_you_mean
from ..core.identity import identity
from ..core.spec import TensorSpec
from ..core.tensor_array import EMPTY
from ..ir.operator import Operator, SharedAttrs, flat, map_operands
from ..ir.program import Program
from ..ir.variable import ARRAY, DENSE, SELECTED_ROWS, Variable
from ..kernels.backend import Backend, Kernel
from ..kernels.choice import reference
from ..ops.opdef import Trait
from . import accumulation, control, effects, passes
from .plan import Instruction, Plan, explain_error

_SPEC = attrgetter("spec")

Layout = int | None | list[int | None]
"""What a slot reads: a place among the registers of an instruction, several in a list slot, or nothing."""


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
    with pause_gc():
        repeated = {op.repeats for op in block.ops if op.repeats is not None}
        lowering = Lowering(set(fed), control.LoweringContext(backend, chosen), lambda v: True, repeated)
        for op in block.ops:
            lowering.add(op)
        # What is wanted, and the instructions that lead to it.
        fetches = [lowering.fetch(name, program) for name in fetched]
        stores = lowering.stores()
        wanted = {*fetches, *stores.values()}
        entering = set(lowering.initial.values())
        code = control.finish(lowering, wanted, lambda r: "free" in chosen and r not in entering)
        # What they read, and what is made of them.
        used = {r for i in code for r in i.ins} | set(fetches)
        _check_fed(lowering, used, code)
        feeds, loads = lowering.inputs_of(used)
        code, constants, size = optimise(lowering, code, held=wanted, stored=set(stores.values()))
        return Plan(
            code,
            constants=constants,
            feeds=feeds,
            loads=loads,
            stores=stores,
            fetches=fetches,
            size=size,
            results=wanted,
            backend=backend,
        )


def optimise(
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
    constants.update(dict.fromkeys(lowering.empty, EMPTY))
    stays = {*held, *constants, *lowering.initial.values()}
    if "release_shapes" in chosen:
        code, size = passes.release_shapes(code, stays | lowering.small, size, backend)
    if "free" in chosen:
        code = passes.free(code, stays)
    if "accumulate" in chosen:
        code = accumulation.mark(code)
    return code, constants, size


_OWN = Trait.RANDOM | Trait.EFFECT | Trait.OPAQUE
"""Operators that have a kernel each."""


class OperatorForm:
    """Facts that operators of one definition with equal attributes and specs share: one kernel serves them all.

    Attributes:
        likes: the places, among the registers that are read, of those that are read for their shape only.
        single: whether there is one result, and no list.
    """

    __slots__ = ("_kernels", "_op", "_read", "_written", "likes", "single")

    def __init__(self, op: Operator, read: tuple[Any, ...], written: tuple[Any, ...]) -> None:
        self._op = op
        self._read = read
        self._written = written
        self._kernels: dict[Backend, Kernel] = {}
        self.single = len(op.outputs) == 1 and not isinstance(op.outputs[0], tuple)
        places = count()
        likes: list[int] = []
        for value, like in zip(op.inputs, _likes(op), strict=False):
            own = [next(places) for v in (value if isinstance(value, tuple) else (value,)) if v is not None]
            likes += own if like else ()
        self.likes = frozenset(likes)

    def kernel(self, backend: Backend) -> Kernel:
        """The kernel on *backend*, which takes the registers in a row and gives all results as one flat sequence."""
        kernel = self._kernels.get(backend)
        if kernel is None:
            kernel = _arrange(self._bind(backend), self._layout())
            kernel = self._kernels[backend] = kernel if self.single else _flatten_results(kernel, self._op)
        return kernel

    def _bind(self, backend: Backend) -> Kernel:
        """The kernel that takes one argument per slot."""
        op = self._op
        kernel = effects.kernel(op) if op.op.has_effect else None
        if kernel is not None:
            return kernel
        wanted = _gradient_requests(op) if op.op.forward is not None else None
        try:
            return backend.bind(op.op, op.attrs, wanted, self._read, self._written)
        except Exception as error:  # no shape rule has seen the attributes of a gradient operator from a file
            raise explain_error(error, op, list(op.input_variables())) from error

    def _layout(self) -> list[Layout]:
        """Return which registers belong to each slot."""
        op = self._op
        places = count()
        layout: list[Layout] = []
        for value in op.inputs:
            if value is None:
                layout.append(None)
            elif isinstance(value, tuple):
                layout.append([None if v is None else next(places) for v in value])
            else:
                layout.append(next(places))
        return layout + [[] if slot.many else None for slot in op.op.inputs[len(op.inputs) :]]


def _gradient_requests(op: Operator) -> list[list[bool]]:
    """Return which gradients a gradient operator has to compute."""
    return [[e is not None for e in v] if isinstance(v, tuple) else [v is not None] for v in op.outputs]


def _likes(op: Operator) -> Iterable[bool]:
    """For each input slot, whether only shape and dtype are read."""
    rule = op.op.forward.rule if op.op.forward is not None else None
    if rule is None:
        return repeat(Trait.LIKE in op.op.trait)
    return [read.like for read in rule.reads]


class Lowering:
    """Registers given out so far, for one block.

    Args:
        starts_empty: whether an array holds nothing before the first operator writes it.
    """

    def __init__(
        self,
        fed: set[str],
        context: control.LoweringContext,
        starts_empty: Callable[[Variable], bool],
        repeated: Collection[Operator] = (),
    ) -> None:
        self.fed = fed
        self.starts_empty = starts_empty
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
        self.empty: set[int] = set()
        """Registers of arrays that hold nothing yet."""
        self.small: set[int] = set()
        """Registers of tensors too small to be worth letting go of early."""
        self._forms: dict[Any, OperatorForm] = {}
        self._is_small: dict[TensorSpec, bool] = {}

    def _new(self) -> int:
        self.size += 1
        return self.size - 1

    def read(self, v: Variable, like: bool = False) -> int:
        """The register of *v*; for its shape only, that of the value which *v* repeats."""
        register = self.current.get(v)
        if register is None:
            register = self.current[v] = self._new()
            if v.kind == ARRAY and self.starts_empty(v):
                self.empty.add(register)
                return register
            self.initial[v] = register
            if v.name not in self.fed and not v.persistable:
                self.unfed[register] = v
        return self.twins.get(register, register) if like else register

    def first(self, v: Variable) -> int:
        """The register of the value that *v* has before the first operator."""
        register = self.initial.get(v)
        if register is None:
            register = self.initial[v] = self._new()
            self.current.setdefault(v, register)
        return register

    def write(self, v: Variable | None) -> int:
        new = self.size
        self.size = new + 1
        if v is not None:
            spec = v.spec
            small = self._is_small.get(spec)
            if small is None:
                small = self._is_small[spec] = 0 <= spec.nbytes <= passes.SMALL
            if small:
                self.small.add(new)
            if v.name in self.fed and not (v.is_data or v.persistable):
                self.read(v)
            else:
                self.current[v] = new
        return new

    def stores(self) -> dict[str, int]:
        """Persistable variables that have been written: name -> register."""
        persistable = ((v, r) for v, r in self.current.items() if v.persistable)
        return {v.name: r for v, r in persistable if self.initial.get(v) != r}

    def inputs_of(self, used: Collection[int]) -> tuple[dict[str, int], dict[str, int]]:
        """Return what is fed, and what is loaded from the scope for the registers *used*: name -> register."""
        feeds: dict[str, int] = {}
        loads: dict[str, int] = {}
        for v, register in self.initial.items():
            if v.name in self.fed:
                feeds[v.name] = register
            elif v.persistable and register in used:
                loads[v.name] = register
        return feeds, loads

    def fetch(self, name: str, program: Program) -> int:
        v = program.global_block().vars.get(name)
        if v is None or name == names.EMPTY:
            raise FetchError(
                f"cannot fetch {name!r}: no such variable in the program.",
                hint=did_you_mean(name, program.global_block().vars),
            )
        if v.kind not in (ARRAY, DENSE, SELECTED_ROWS):
            raise FetchError(f"cannot fetch {name!r}: it holds no tensor, but {v.kind}.")
        return self.read(v)

    def add(self, op: Operator) -> None:
        """Turn one operator into an instruction."""
        if op.op.holds_blocks and Trait.RANDOM not in op.op.trait:  # what stands for an unknown operator runs no block
            self._add_control(op)
            return
        form = self._form(op)
        backend = self.context.backend
        kernel = backend.separate(op, form.kernel(backend), lambda: form.kernel(reference()))
        # The registers, those that are read for their shape given by what the value repeats.
        ins: list[int] = []
        current = self.current
        for value in op.inputs:
            for v in value if isinstance(value, tuple) else (value,):
                if v is not None:
                    register = current.get(v)
                    ins.append(self.read(v) if register is None else register)
        if self.twins:
            ins = [self.twins.get(r, r) if i in form.likes else r for i, r in enumerate(ins)]
        outs = tuple([self.write(v) for v in flat(op.outputs)])
        if op in self.repeated:
            self._written[op] = outs
        if op.repeats in self._written:
            self.twins.update(zip(outs, self._written[op.repeats], strict=True))
        effect = op.op.has_effect and self.context.effects(op)
        self.code.append(Instruction(op, kernel, tuple(ins), outs, form.likes, not form.single, effect=effect))

    def _form(self, op: Operator) -> OperatorForm:
        """Return the form that all operators of this definition, these attributes and these specs share."""
        definition = op.op
        read, written = map_operands(op.inputs, _SPEC), map_operands(op.outputs, _SPEC)
        if type(op.attrs) is not SharedAttrs:
            return OperatorForm(op, read, written)
        key = definition, identity(op.attrs), read, written
        form = self._forms.get(key)
        if form is None:
            form = OperatorForm(op, read, written)
            if not definition.trait & _OWN:
                self._forms[key] = form
        return form

    def _add_control(self, op: Operator) -> None:
        """An operator that runs a block: its kernel is made when it is known who needs what."""
        runs_block = control.Control(op, self)
        outs = tuple(self.write(v) for v in flat(op.outputs))
        effect = self.context.effects(op)
        instruction = Instruction(op, _raise_unlowered, tuple(runs_block.ins), outs, spread=True, effect=effect)
        runs_block.instruction = instruction
        self.controls[identity(instruction)] = runs_block
        self.code.append(instruction)


def _raise_unlowered(*operands: Any) -> Any:
    raise ExecutionError("an operator with a block was not lowered")


def _arrange(kernel: Kernel, layout: Sequence[Layout]) -> Kernel:
    """*kernel*, which takes one argument per slot, as a function of registers that stand in a row."""
    if layout == [*range(len(layout))]:
        return kernel  # a register for each
    first, *rest = layout
    if first == 0 and all(place is None for place in rest):
        nothing = (None,) * len(rest)
        return lambda x: kernel(x, *nothing)
    if not rest and isinstance(first, list) and None not in first:
        return lambda *arrays: kernel(arrays)

    def pick(arrays: tuple[Any, ...], place: Layout) -> Any:
        if isinstance(place, list):
            return [None if p is None else arrays[p] for p in place]
        return None if place is None else arrays[place]

    return lambda *arrays: kernel(*[pick(arrays, place) for place in layout])


def _flatten_results(kernel: Kernel, op: Operator) -> Kernel:
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
