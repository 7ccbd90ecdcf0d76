"""Programs and blocks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..core import source, state, upward
from ..core.errors import ArgumentTypeError, UsageError, VariableNotFound, did_you_mean
from ..core.names import UniqueNames
from ..core.spec import Shape, TensorSpec
from ..ops.opdef import BlockValue
from .operator import Marks, Operator
from .variable import (
    DENSE,
    STEP_SCOPES,
    DenseTensor,
    Parameter,
    Scope,
    Variable,
    check_same,
    declare_again,
    values_module,
)

if TYPE_CHECKING:
    from .desc import BlockDesc
    from .renew import Loop


class Program:
    """A list of blocks of operators over named variables; block 0 is the program's body.

    Attributes:
        blocks: the blocks, by index.
        names: the generator of unique names, one per program.
        version: grows with every edit; plans are cached under it.
        live: persistable variables whose value is asked for before every run (a scheduled learning rate), by name.
        overwritten: variables that more than one operator of their block writes.
        renewed: loop variables as they were given to a loop, see ``renew.py``.
        open_loops: how many loop bodies are being built, one inside the other.
        printed: how often ``print`` operators have printed.
        startups: the programs that initialize its persistable variables, the one of the first variable first.
        ran: where it ran, each time that it had grown, and how many operators it had then.
    """

    def __init__(self) -> None:
        self.blocks = [Block(self, 0, -1)]
        self.names = UniqueNames()
        self.scope_names: dict[tuple[str, str], int] = {}
        self.version = 0
        self.current_block_idx = 0
        self.plans: dict[Any, Any] = {}
        self.live: dict[str, Callable[[], float]] = {}
        self.overwritten: set[Variable] = set()
        self.renewed: dict[Variable, tuple[Variable, Loop]] = {}
        self.open_loops = 0
        self.printed: dict[Operator, int] = {}
        self.startups: dict[Program, None] = {}
        self.ran: list[tuple[int, Any]] = []
        self._seed = 0
        self._appending_grad_times = 0

    @property
    def random_seed(self) -> int:
        """The seed of operators that have none of their own; 0 means the process's stream (``paddle.seed``)."""
        return self._seed

    @random_seed.setter
    def random_seed(self, seed: int) -> None:
        if not isinstance(seed, int):
            raise UsageError(f"Program.random_seed must be an integer, but received {type(seed).__name__}.")
        self._seed = seed
        self.version += 1

    def global_seed(self, seed: int = 0) -> None:
        """Set ``random_seed`` of this program."""
        self.random_seed = seed

    @property
    def num_blocks(self) -> int:
        return len(self.blocks)

    @property
    def desc(self) -> Program:
        return self

    def global_block(self) -> Block:
        return self.blocks[0]

    def block(self, index: int) -> Block:
        return self.blocks[index]

    def current_block(self) -> Block:
        return self.blocks[self.current_block_idx]

    def _create_block(self, parent_idx: int | None = None) -> Block:
        """Begin a block: operators made from now on go there, until :meth:`_rollback`.

        Args:
            parent_idx: the block around it; the current block when None.
        """
        block = Block(self, len(self.blocks), self.current_block_idx if parent_idx is None else parent_idx)
        self.blocks.append(block)
        self.current_block_idx = block.idx
        self.version += 1
        return block

    def _rollback(self) -> None:
        """Go back to the block around the current one."""
        self.current_block_idx = self.current_block().parent_idx

    def list_vars(self) -> Iterator[Variable]:
        """Every variable of every block."""
        for block in self.blocks:
            yield from block.vars.values()

    def all_parameters(self) -> list[Parameter]:
        """The parameters, in order of creation."""
        return [p for b in self.blocks for p in b.all_parameters()]

    def clone(self, for_test: bool = False) -> Program:
        """A copy; with *for_test*, of the forward part only, with dropout and batch_norm in test form."""
        copy: Program = upward.part("copies of programs").clone(self, for_test)
        return copy

    def to_string(self, throw_on_error: bool = False, with_details: bool = False) -> str:
        """The program's text, the same as ``str(program)``."""
        return str(upward.part("texts of programs").program_text(self))

    def __repr__(self) -> str:
        return self.to_string()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return what notebooks show: the program's graph as a picture, and its text for those that show none."""
        return {**self._picture()._repr_mimebundle_(), "text/plain": self.to_string()}

    def show(self) -> None:
        """Show the program's graph: in a notebook below the cell, elsewhere as a page in the browser."""
        self._picture().show()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a picture of the program's graph, whole or not at all; ``static.save`` writes parameters.

        Args:
            path: its ending says what is written: ``.html``, ``.svg``, ``.dot``, ``.json``, ``.mmd`` (Mermaid),
                ``.txt``, ``.png`` or ``.pdf``.

        Raises:
            ValueError: another ending.
            GraphvizError: a PNG or PDF file is asked for, and Graphviz is missing.
        """
        self._picture().save(path)

    def _picture(self) -> Any:
        return upward.part("pictures").graph(self)

    def state_dict(self, mode: str = "all", scope: Scope | None = None) -> dict[str, DenseTensor]:
        """The values of persistable variables, by name.

        Args:
            mode: ``"param"`` for parameters, ``"opt"`` for the others, ``"all"``.
            scope: where they live; the global scope when None.

        Raises:
            UsageError: another mode (a ValueError).
            VariableNotFound: one of them has no value yet (a ValueError).
        """
        return values_module().state_dict(self, mode, scope)  # type: ignore[no-any-return]

    def set_state_dict(self, state_dict: Mapping[str, Any], scope: Scope | None = None) -> None:
        """Set persistable variables from a dict of values; entries that do not fit are skipped with a warning.

        Raises:
            ArgumentTypeError: no dict (a TypeError).
        """
        values_module().set_state_dict(self, state_dict, scope)

    @contextmanager
    def switch_name_generator_guard(self, new_generator: UniqueNames | str | None = None) -> Iterator[None]:
        """Count unique names from the beginning inside (or with *new_generator*; a string is a prefix)."""
        before = self.names
        self.names = new_generator if isinstance(new_generator, UniqueNames) else UniqueNames(new_generator or "")
        try:
            yield
        finally:
            self.names = before

    @staticmethod
    def parse_from_string(text: str | bytes) -> Program:
        """The program that prints as *text*, or that :meth:`serialize_to_string` or :meth:`to_desc` made bytes of.

        Bytes may also be a program that Paddle itself wrote.

        Raises:
            ProgramTextError: the text is no program (a ValueError).
            FileFormatError: the bytes are no program (a ValueError).
        """
        if isinstance(text, bytes):
            return _container_module().program_from(text)  # type: ignore[no-any-return]
        program: Program = upward.part("program parser").parse_program(text)
        return program

    def serialize_to_string(self) -> bytes:
        """The program as bytes, in the container of all binary files of gradtool; :meth:`parse_from_string` reads it.

        Raises:
            ProgramError: an attribute holds something that is no data (a Python function).
        """
        return b"".join(_container_module().pieces(self))

    def to_desc(self, feed: Sequence[str] = (), fetch: Sequence[str] = ()) -> bytes:
        """The program as Paddle itself reads it (``Program.parse_from_string`` there): a protobuf ``ProgramDesc``.

        Args:
            feed, fetch: names of variables that operators ``feed`` and ``fetch`` are written for, as a program for
                inference has them.

        Raises:
            UnsupportedError: it holds an operator that Paddle has not, or the extra ``gradtool[paddle]`` is not
                installed (a ValueError).
            ProgramError: an attribute holds something that is no data (a Python function).

        >>> Program.parse_from_string(Program().to_desc()).num_blocks
        1
        """
        described: bytes = upward.part("Paddle's descriptions").to_desc(self, feed, fetch)
        return described

    def to_json(self, *, sources: bool = True, indent: int | None = None) -> str:
        """The program as JSON, in the form of ``engine/ir/schemas/static-program.json``.

        Unlike the text form it holds all that the program knows: which variables are fed, how optimizers treat a
        parameter, the counters of unique names, and where operators were made.

        Args:
            sources: False leaves out where operators and variables were made.
            indent: blanks per level, for people; one line when None.

        Raises:
            ProgramError: an attribute holds something that is no data (a Python function).

        >>> Program.from_json(Program().to_json()).num_blocks
        1
        """
        return str(upward.part("programs to JSON").to_json(self, sources=sources, indent=indent))

    @staticmethod
    def from_json(text: str | bytes) -> Program:
        """The program that :meth:`to_json` described; raises :class:`FileFormatError` (a ValueError)."""
        program: Program = upward.part("programs from JSON").from_json(text)
        return program


def _container_module() -> Any:
    """Return the module that writes containers: it knows tensors too, and belongs to a layer above."""
    return upward.part("nested objects")


class Block(BlockValue):
    """A list of operators and the variables that they work on.

    Attributes:
        idx: its index in the program.
        parent_idx: the block around it, -1 for block 0.
        forward_block_idx: for the block of a gradient operator, the forward block that it differentiates, else -1.
        vars: the variables by name, in order of creation.
        ops: the operators, in order of execution. Change it through :meth:`append_op` and the passes only.
    """

    __slots__ = (
        "backward_block_idx",
        "forward_block_idx",
        "idx",
        "marks",
        "ops",
        "owner",
        "parent_idx",
        "pending",
        "program",
        "vars",
    )

    def __init__(self, program: Program, idx: int, parent_idx: int) -> None:
        self.program = program
        self.idx = idx
        self.parent_idx = parent_idx
        self.forward_block_idx = -1
        self.backward_block_idx = -1
        self.vars: dict[str, Variable] = {}
        self.ops: list[Operator] = []
        self.owner: Operator | None = None
        """The operator that runs the block."""
        self.marks: dict[tuple[int, int, str], Marks] = {}
        """What operators have that are marked alike (``operator.py``)."""
        self.pending: list[Operator] = []
        """Operators of a backward part that is still being built: only ``desc`` shows them."""

    @property
    def desc(self) -> BlockDesc:
        """The view of the block that callbacks get."""
        return upward.part("descriptions of parts").BlockDesc(self)  # type: ignore[no-any-return]

    # -- variables ------------------------------------------------------------------------------------------------

    def var(self, name: str) -> Variable:
        """The variable called *name*.

        Raises:
            VariableNotFound: this block has none (also a ValueError).
            ArgumentTypeError: *name* is no string.
        """
        if not isinstance(name, str):
            raise ArgumentTypeError(f"var() takes a name, but received {type(name).__name__}.")
        v = self.vars.get(name)
        if v is None:
            raise VariableNotFound(f"var {name} not in this block", hint=did_you_mean(name, self.vars))
        return v

    def has_var(self, name: str) -> bool:
        return name in self.vars

    def _find_var_recursive(self, name: str) -> Variable | None:
        """The variable of that name here, in a block whose frames this one reads, or in an enclosing block."""
        seen = set()
        todo = [self.idx]
        while todo:
            idx = todo.pop(0)
            if idx < 0 or idx in seen:
                continue
            seen.add(idx)
            block = self.program.blocks[idx]
            if name in block.vars:
                return block.vars[name]
            todo += [block.forward_block_idx, *block._frame_indices(), block.parent_idx]
        return None

    def _frame_indices(self) -> Iterator[int]:
        """The blocks whose frames the operator reads that runs this one."""
        for v in self.owner.input_variables() if self.owner is not None else ():
            if v.kind == STEP_SCOPES and v.op is not None:
                yield from [b.idx for b in v.op.sub_blocks[:1]]

    def _var_recursive(self, name: str) -> Variable:
        v = self._find_var_recursive(name)
        if v is None:
            raise VariableNotFound(f"Var {name} is not found recursively", hint=did_you_mean(name, self.vars))
        return v

    def add_var(self, variable: Variable) -> Variable:
        """Enter a variable made elsewhere; the one of that name, if any, is replaced."""
        self.vars[variable.name] = variable
        self.program.version += 1
        return variable

    def create_var(
        self,
        name: str | None = None,
        shape: Shape | list[int] | None = None,
        dtype: object = None,
        *,
        stop_gradient: bool = False,
        persistable: bool = False,
        is_data: bool = False,
        type: str = DENSE,
        **unused: Any,
    ) -> Variable:
        """Make a variable; without a name it is called ``_generated_var_0``, …

        A name that the block has already stands for the variable that is there, with the flags given now.

        Raises:
            NameClash: that variable has another shape, dtype or persistability (also a ValueError).
        """
        before = self.vars.get(name) if name is not None else None
        if before is not None:
            spec = TensorSpec(
                shape if shape is not None else before.shape, dtype if dtype is not None else before.dtype
            )
            return declare_again(before, spec, stop_gradient, persistable, is_data)
        spec = TensorSpec(shape if shape is not None else (), dtype if dtype is not None else state.default_dtype())
        return self.add_var(
            Variable(
                self,
                name if name is not None else self.program.names("_generated_var"),
                spec,
                stop_gradient=stop_gradient,
                persistable=persistable,
                is_data=is_data,
                kind=type,
                loc=source.here(),
            )
        )

    def create_parameter(
        self,
        name: str | None = None,
        shape: Shape | list[int] = (),
        dtype: object = "float32",
        *,
        initializer: Any = None,
        lod_level: int = 0,
        **settings: Any,
    ) -> Parameter:
        """Make a parameter in block 0, or return the one of that name and shape; *lod_level* is not kept.

        Raises:
            NameClash: a variable of that name has another shape or dtype (also a ValueError).
        """
        home = self.program.blocks[0]
        spec = TensorSpec(shape, dtype)
        if name is None:
            name = self.program.names("_generated_var")
        before = home.vars.get(name)
        if before is not None:
            check_same(before, spec)
            if isinstance(before, Parameter):
                return before
        parameter = Parameter(home, name, spec, loc=source.here(), **settings)
        home.add_var(parameter)
        if initializer is not None:
            initializer(parameter, home)
        return parameter

    def all_parameters(self) -> list[Parameter]:
        return [v for v in self.vars.values() if isinstance(v, Parameter)]

    def iter_parameters(self) -> Iterator[Parameter]:
        return iter(self.all_parameters())

    # -- operators ------------------------------------------------------------------------------------------------

    def append_op(
        self,
        type: str,
        inputs: Mapping[str, Any] | None = None,
        outputs: Mapping[str, Any] | None = None,
        attrs: Mapping[str, Any] | None = None,
        **unused: Any,
    ) -> Operator:
        """Append an operator; nothing changes when its arguments do not fit.

        Args:
            inputs, outputs: slot -> a variable, a name, or a list of either.

        Raises:
            OperatorError: unknown type, slots that do not fit (a ValueError).
            ShapeError: the inputs' shapes do not fit (a ValueError).
        """
        from .build import check_op

        return self._append(check_op(self, type, inputs or {}, outputs or {}, attrs or {}))

    def _append(self, op: Operator) -> Operator:
        """Enter an operator that is known to be right."""
        self._extend((op,))
        return op

    def _extend(self, ops: Sequence[Operator]) -> None:
        """Enter operators that are known to be right."""
        self.ops += ops
        for op in ops:
            if op.op.holds_blocks:
                self._own_blocks(op)
            for value in op.outputs:
                for v in value if isinstance(value, tuple) else (value,):
                    if v is not None and v.block is self:
                        # A write from inside a block counts as one of the operator that holds the block.
                        if v.op is not None:
                            self.program.overwritten.add(v)
                        v.op = op
        self.program.version += 1

    def _own_blocks(self, op: Operator) -> None:
        """Note in the blocks that *op* runs that it does."""
        for inner in op.sub_blocks:
            if isinstance(inner, Block) and inner.program is self.program:
                inner.owner = inner.owner or op

    def _set_forward_block_idx(self, idx: int) -> None:
        """Make this the block of the gradient of block *idx*."""
        self.forward_block_idx = idx
        self.program.blocks[idx].backward_block_idx = self.idx

    def _replace_ops(self, ops: list[Operator]) -> None:
        """Swap in a new list of operators, as passes do."""
        self.ops = ops
        self.program.version += 1

    # -- changes to what is there (``edit.py``) -------------------------------------------------------------------

    def _insert_op(self, index: int, type: str, **arguments: Any) -> Operator:
        """Insert an operator before the one at *index*; arguments as for :meth:`append_op`."""
        op: Operator = upward.part("edits of programs").insert_op(self, index, type, **arguments)
        return op

    def _prepend_op(self, type: str, **arguments: Any) -> Operator:
        """Insert an operator before all others; arguments as for :meth:`append_op`."""
        return self._insert_op(0, type, **arguments)

    def _remove_op(self, index: int, sync: bool = True) -> None:
        """Remove the operator at *index*; raises IndexError when there is none."""
        upward.part("edits of programs").remove_op(self, index)

    def _remove_var(self, name: str, sync: bool = True) -> None:
        """Remove a variable that no operator uses; raises :class:`VariableNotFound` or :class:`NameClash`."""
        upward.part("edits of programs").remove_var(self, name)

    def _rename_var(self, name: str, new_name: str) -> Variable:
        """Give a variable another name, everywhere; raises :class:`VariableNotFound` or :class:`NameClash`."""
        v: Variable = upward.part("edits of programs").rename_var(self, name, new_name)
        return v

    def to_string(self, throw_on_error: bool = False, with_details: bool = False) -> str:
        return repr(self)

    def __repr__(self) -> str:
        return str(upward.part("texts of programs").block_text(self))
