"""A function of tensors as a program: it is called once, rewritten, with variables in the place of tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from gradtool.engine.core import source, state
from gradtool.engine.core.errors import UnsupportedError
from gradtool.engine.eager import mode
from gradtool.engine.eager.parameter import TensorParameter
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ir import blocks
from gradtool.engine.ir.default import program_guard
from gradtool.engine.ir.operator import Operator
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.variable import Variable
from gradtool.paddle.nn.layer import Layer

from ...engine.core.identity import identity
from .conversion.calls import converted
from .conversion.refusals import refused
from .swapping import Swapped

_PARAMETER_SETTINGS = ("optimize_attr", "regularizer", "need_clip", "do_model_average", "is_distributed", "layer_path")


class Trace:
    """The making of one program.

    Attributes:
        program, startup: what is built.
        tensors: by the name of a persistable variable, the tensor that it stands for.
    """

    def __init__(self) -> None:
        self.program = Program()
        self.startup = Program()
        self.tensors: dict[str, Tensor] = {}
        self._variables: dict[int, Variable] = {}
        self._swapped = Swapped(self)

    # -- what the engine asks -----------------------------------------------------------------------------------------

    def captured(self, tensor: Tensor) -> Variable:
        """The variable that *tensor* is in the program: a parameter, or a value that is kept beside it."""
        variable = self._variables.get(identity(tensor))
        if variable is None:
            variable = self._variables[identity(tensor)] = self._new(tensor)
        return variable

    def _new(self, tensor: Tensor) -> Variable:
        block = self.program.global_block()
        name = tensor.name
        if name in block.vars:
            name = self.program.names(f"{name}_captured")
        variable: Variable
        if isinstance(tensor, TensorParameter):
            variable = block.create_parameter(
                name=name, shape=tuple(tensor.shape), dtype=tensor.dtype, trainable=tensor.trainable
            )
            for setting in _PARAMETER_SETTINGS:
                setattr(variable, setting, getattr(tensor, setting))
            variable.loc = tensor.loc
        else:
            stops = tensor.stop_gradient or tensor.node is not None
            variable = block.create_var(
                name=name, shape=tuple(tensor.shape), dtype=tensor.dtype, persistable=True, stop_gradient=stops
            )
            variable.loc = source.NOWHERE
        self.tensors[name] = tensor
        return variable

    def cuts(self) -> bool:
        """Return whether no gradient flows through what is appended now.

        Raises:
            UnsupportedError: operands would be cast (``amp.auto_cast``), which programs do by ``static.amp``.
        """
        if mode.casting is not None:
            raise UnsupportedError(
                "amp.auto_cast is on while a function is traced, and programs cast by static.amp.",
                hint="leave auto_cast before jit.save or concrete_program; in scripts it works around the call",
            )
        return not mode.grad_enabled()

    def asked_for_truth(self, variable: Variable) -> NoReturn:
        """Python asks for the truth of a variable where no rewritten function does."""
        raise refused(
            f"Python asks for the truth of '{variable.name}', which is not known while its function is traced",
            "the function around could not be rewritten (its text is not there, it is a generator, or it was marked by "
            "not_to_static); use paddle.where or static.nn.cond there",
        )

    # -- what is built ------------------------------------------------------------------------------------------------

    @contextmanager
    def running(self, *roots: Any) -> Iterator[None]:
        """Trace inside: variables stand for the tensors that *roots*, layers and other objects, hold."""
        if state.tracing.get() is not None:
            raise refused("a function is traced while another one is", "call it, without asking for its program")
        token = state.tracing.set(self)
        try:
            with (
                state.static_mode(),
                program_guard(self.program, self.startup),
                _layers_call_rewritten(),
                self._swapped.all(roots),
            ):
                yield
        finally:
            state.tracing.reset(token)

    def finish(self) -> None:
        """Let the program keep what the function assigned to buffers."""
        self._swapped.write_back()

    def swap(self, layer: Layer) -> None:
        """Let a layer that was called hold variables until the trace ends."""
        self._swapped.add(layer)

    def owners(self) -> list[Any]:
        """The layers and objects that hold variables."""
        return self._swapped.owners()

    def check_output(self, v: Variable) -> None:
        """Raise where the function returns what only a branch or an iteration computes."""
        if v.block is not self.program.global_block():
            _refuse_leak("the function returns", v, source.NOWHERE)

    def check(self) -> None:
        """Raise where an operator reads what only another branch or iteration computes."""
        for block in self.program.blocks:
            for op in block.ops:
                for v in op.input_variables():
                    if v.block is not block and not blocks.is_around(v.block, block) and not _is_own(op, v):
                        _refuse_leak(f"{op.type} reads", v, op.loc)


def _is_own(op: Operator, v: Variable) -> bool:
    return any(v.block is inner for inner in op.sub_blocks)


def _refuse_leak(who: str, v: Variable, place: source.Location) -> NoReturn:
    made = source.short(v.made_at)
    raise refused(
        f"{who} '{v.name}', which only a branch or a loop computes that a tensor decides about"
        f"{f', at {made}' if made else ''}",
        "assign to a variable of the same function in the branch or loop, and read that one",
        place or v.made_at,
    )


_active = 0


@contextmanager
def _layers_call_rewritten() -> Iterator[None]:
    """Inside, calling a layer calls its ``forward`` rewritten, in threads that trace; others call it as ever."""
    global _active
    if not _active:
        _plain.append(Layer.__call__)
        setattr(Layer, "__call__", _called)  # noqa: B010
    _active += 1
    try:
        yield
    finally:
        _active -= 1
        if not _active:
            setattr(Layer, "__call__", _plain.pop())  # noqa: B010


_plain: list[Callable[..., Any]] = []


_ABSENT = object()


def _called(layer: Layer, *inputs: Any, **kwargs: Any) -> Any:
    trace = state.tracing.get()
    if trace is None:
        return _plain[-1](layer, *inputs, **kwargs)
    trace.swap(layer)
    fields = layer.__dict__
    before = fields.get("forward", _ABSENT)
    fields["forward"] = converted(layer.forward)
    try:
        return _plain[-1](layer, *inputs, **kwargs)
    finally:
        if before is _ABSENT:
            fields.pop("forward", None)
        else:
            fields["forward"] = before
