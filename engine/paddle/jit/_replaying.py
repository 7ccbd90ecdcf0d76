"""A program computed in dynamic mode: each of its operators is recorded on the tape, so gradients flow as ever."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

from gradtool.engine.core import source
from gradtool.engine.core.errors import ExecutionError, UnsupportedError
from gradtool.engine.eager.mode import no_grad
from gradtool.engine.eager.recipe import recipes
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ir import blocks
from gradtool.engine.ir.operator import Operator
from gradtool.engine.ir.program import Block, Program
from gradtool.engine.ir.variable import ARRAY, Variable
from gradtool.engine.ops.opdef import OpDef
from gradtool.paddle._arrays import tensor_array_to_tensor
from gradtool.paddle._creation import to_tensor
from gradtool.paddle._dispatch import write
from gradtool.paddle.static._effects import Assert

Values = dict[Variable, Any]


class ProgramReplay:
    """A program, ready to be computed from tensors.

    Args:
        held: the tensors of its persistable variables, by name; what the program writes to them they have afterwards.
    """

    def __init__(self, program: Program, held: Mapping[str, Tensor]) -> None:
        self._program = program
        self._held = held
        self._arrays: dict[Block, list[Variable]] = {}
        self._bound: dict[Operator, tuple[OpDef, dict[str, Any], bool]] = {}

    def __call__(self, fed: Mapping[str, Tensor], fetches: list[Variable]) -> list[Tensor]:
        """The tensors of *fetches*, for values of what is fed by name."""
        block = self._program.global_block()
        values: Values = {block.vars[name]: tensor for name, tensor in fed.items()}
        for name, tensor in self._held.items():
            values[block.vars[name]] = tensor
        self._run(block, values)
        return [values[v] for v in fetches]

    def _run(self, block: Block, values: Values) -> None:
        for array in self._arrays_of(block):
            values[array] = []  # of this iteration
        for op in block.ops:
            run = _CONTROL.get(op.type)
            if run is not None:
                run(self, op, values)
            elif op.sub_blocks:
                raise UnsupportedError(
                    f"{op.type}, an operator that holds a block, is not computed in dynamic mode.",
                    made=source.describe(op.loc),
                    hint="run the program by paddle.static.Executor",
                )
            else:
                self._compute(op, values)

    def _arrays_of(self, block: Block) -> list[Variable]:
        arrays = self._arrays.get(block)
        if arrays is None:
            arrays = self._arrays[block] = [v for v in block.vars.values() if v.kind == ARRAY]
        return arrays

    def _compute(self, op: Operator, values: Values) -> None:
        definition, attrs, cut = self._entry(op)
        recipe = recipes[definition]
        operands = [_operand(slot, values) for slot in op.inputs]
        operands += recipe.padding[len(operands) :]
        with no_grad() if cut else nullcontext():
            result = recipe.record(recipe.bind(attrs), *operands)
        results = result if isinstance(result, tuple) else (result,)
        for slot, value in zip(op.outputs, results, strict=False):
            pairs = zip(slot, value, strict=True) if isinstance(slot, tuple) else ((slot, value),)
            for v, tensor in pairs:
                if v is not None:
                    _tell_line(tensor, op)
                    values[v] = self._kept(v, tensor, op.type)

    def _entry(self, op: Operator) -> tuple[OpDef, dict[str, Any], bool]:
        entry = self._bound.get(op)
        if entry is None:
            attrs = {name: value for name, value in op.attrs.items() if name in op.op.defaults}
            outputs = list(op.output_variables())
            # Where gradients were cut on purpose (detach, no_grad) they stay cut.
            cut = bool(outputs) and all(v.stop_gradient for v in outputs)
            cut = cut and any(not v.stop_gradient for v in op.input_variables())
            entry = self._bound[op] = op.op, attrs, cut
        return entry

    def _kept(self, v: Variable, tensor: Tensor, writer: str) -> Tensor:
        """Return the tensor in place of *v* from here on: the tensor that outlives the call, if there is one."""
        home = self._held.get(v.name) if v.persistable else None
        if home is None or home is tensor:
            return tensor
        with no_grad():
            return write(home, tensor.detach(), writer)

    # -- operators that hold blocks -----------------------------------------------------------------------------------

    def _conditional(self, op: Operator, values: Values) -> None:
        if _holds(blocks.slot(op, "Cond")[0], values):
            self._run(op.sub_blocks[0], values)

    def _while(self, op: Operator, values: Values) -> None:
        condition = _one(op, "Condition")
        while _holds(condition, values):
            self._run(op.sub_blocks[0], values)

    def _select(self, op: Operator, values: Values) -> None:
        chosen = blocks.slot(op, "X")[int(values[_one(op, "Mask")].item())]
        assert chosen is not None
        values[_one(op, "Out")] = values[chosen]

    # -- arrays of tensors, which are lists here ----------------------------------------------------------------------

    def _write(self, op: Operator, values: Values) -> None:
        array, place = values[_one(op, "Out")], int(values[_one(op, "I")].item())
        array.extend([None] * (place + 1 - len(array)))
        array[place] = values[_one(op, "X")]

    def _read(self, op: Operator, values: Values) -> None:
        array, place = values[_one(op, "X")], int(values[_one(op, "I")].item())
        if not 0 <= place < len(array) or array[place] is None:
            raise ExecutionError(
                f"read_from_array: there is nothing at place {place} of '{_one(op, 'X').name}'.",
                made=source.describe(op.loc),
            )
        values[_one(op, "Out")] = array[place]

    def _length(self, op: Operator, values: Values) -> None:
        values[_one(op, "Out")] = to_tensor([len(values[_one(op, "X")])], "int64")

    def _join(self, op: Operator, values: Values) -> None:
        joined = tensor_array_to_tensor(values[_one(op, "X")], op.attrs["axis"], op.attrs["use_stack"])
        for slot, value in zip(op.outputs, joined, strict=True):
            if isinstance(slot, Variable):
                values[slot] = value

    def _assert(self, op: Operator, values: Values) -> None:
        data = [values[v] for v in blocks.slot(op, "Data") if v is not None]
        Assert(values[_one(op, "Cond")], data, op.attrs["summarize"])


_CONTROL: dict[str, Callable[[ProgramReplay, Operator, Values], None]] = {
    "assert": ProgramReplay._assert,
    "write_to_array": ProgramReplay._write,
    "read_from_array": ProgramReplay._read,
    "lod_array_length": ProgramReplay._length,
    "tensor_array_to_tensor": ProgramReplay._join,
    "conditional_block": ProgramReplay._conditional,
    "while": ProgramReplay._while,
    "select_input": ProgramReplay._select,
}
"""Operators that compute no tensor, but decide what is computed: here Python does."""


def _one(op: Operator, slot: str) -> Variable:
    v = blocks.one(op, slot)
    assert v is not None, f"{op.type} without {slot}"
    return v


def _operand(slot: Any, values: Values) -> Any:
    if isinstance(slot, tuple):
        return [values[v] for v in slot]
    return None if slot is None else values[slot]


def _holds(v: Any, values: Values) -> bool:
    return bool(values[v].item())


def _tell_line(tensor: Tensor, op: Operator) -> None:
    """Let the node that made *tensor* stand on the line that built its operator, called from the user's."""
    if op.loc and tensor.node is not None and tensor.node.op is op.op:
        tensor.node.site = op.loc + tensor.node.loc
