"""Variables and parameters of a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..core import names, source, state, upward, watch
from ..core.errors import ModeError, NameClash, ProgramError
from ..core.source import NOWHERE, Location
from ..core.spec import UNKNOWN, DType, Shape, TensorSpec
from ..core.value import AnyTensor

if TYPE_CHECKING:
    from .operator import Operator
    from .program import Block

Scope = Any
"""A ``gradtool.engine.executor.scope.Scope``, which this layer does not know."""

DenseTensor = Any
"""A ``gradtool.engine.executor.scope.DenseTensor``."""


def values_module() -> Any:
    """The functions behind ``get_value`` and ``state_dict``: they belong to the executor's layer, above this one."""
    return upward.part("values")


DENSE = "DENSE_TENSOR"
SELECTED_ROWS = "SELECTED_ROWS"
ARRAY = "DENSE_TENSOR_ARRAY"
"""The kind of variable that holds tensors by place; its spec is what is known of each of them."""
STEP_SCOPES = "STEP_SCOPES"
"""The kind of variable that holds the frames of a block's runs (``blocks.py``)."""


class Standing(NamedTuple):
    """Facts that nearly all variables share, so that a million of them do not hold it a million times.

    Attributes:
        kind, persistable, is_data, loc, stopped_at: of a variable.
    """

    kind: str = DENSE
    persistable: bool = False
    is_data: bool = False
    loc: Location = NOWHERE
    stopped_at: Location = NOWHERE


USUAL: Final = Standing()
"""Of what an operator computes: a tensor that lives while the program runs."""


class Variable(AnyTensor):
    """A named tensor of a program.

    Attributes:
        name: unique within its block.
        spec: shape and dtype; -1 in the shape is not known until the program runs.
        block: the block that it belongs to.
        op: the operator that wrote it last, or None for fed data and parameters.
        stop_gradient: no gradient flows into it or through it.
        persistable: its value lives in the scope between runs.
        is_data: its value is fed.
        kind: ``DENSE_TENSOR``, or what else the variable holds.
        loc: where it was made, if no operator says so.
        stopped_at: where ``stop_gradient`` was last set, if somebody watched; else nowhere.
        standing: the five of these that nearly all variables have in common.
    """

    __slots__ = ("block", "name", "op", "spec", "standing", "stop_gradient")

    is_parameter = False
    lod_level = 0
    error_clip = None
    belong_to_optimizer = False
    is_view_var = False

    def __init__(
        self,
        block: Block,
        name: str,
        spec: TensorSpec,
        stop_gradient: bool = False,
        *,
        persistable: bool = False,
        is_data: bool = False,
        kind: str = DENSE,
        loc: Location = NOWHERE,
    ) -> None:
        self.block = block
        self.name = name
        self.spec = spec
        self.op: Operator | None = None
        usual = kind == DENSE and not (persistable or is_data or loc)
        self.standing = USUAL if usual else Standing(kind, persistable, is_data, loc)
        self.stop_gradient = stop_gradient  # which notes in its standing where that is, if somebody watches

    def twin(self, block: Block) -> Variable:
        """The same variable in *block*, written by nobody yet."""
        new = Variable.__new__(Variable)  # a program may have a million
        new.block = block
        new.name = self.name
        new.spec = self.spec
        new.op = None
        _STOP_GRADIENT.__set__(new, self.stop_gradient)
        new.standing = self.standing
        return new

    @property
    def kind(self) -> str:
        return self.standing.kind

    @kind.setter
    def kind(self, kind: str) -> None:
        self.standing = self.standing._replace(kind=kind)

    @property
    def is_data(self) -> bool:
        return self.standing.is_data

    @is_data.setter
    def is_data(self, is_data: bool) -> None:
        self.standing = self.standing._replace(is_data=is_data)

    @property
    def loc(self) -> Location:
        return self.standing.loc

    @loc.setter
    def loc(self, loc: Location) -> None:
        self.standing = self.standing._replace(loc=loc)

    @property
    def stopped_at(self) -> Location:
        return self.standing.stopped_at

    @property
    def persistable(self) -> bool:
        return self.standing.persistable

    @persistable.setter
    def persistable(self, persistable: bool) -> None:
        self.standing = self.standing._replace(persistable=persistable)
        self.block.program.version += 1  # what a plan stores in the scope goes by it

    @property
    def shape(self) -> Shape:
        return self.spec.shape

    @property
    def dtype(self) -> DType:
        return self.spec.dtype

    @property
    def type(self) -> str:
        return self.standing.kind

    @property
    def ndim(self) -> int:
        return self.spec.ndim

    @property
    def grad_name(self) -> str:
        return names.grad(self.name)

    @property
    def made_at(self) -> Location:
        """Place where the user's program made it."""
        loc = self.standing.loc
        return self.op.loc if self.op is not None and not loc else loc

    def __repr__(self) -> str:
        return str(upward.part("texts of programs").variable_text(self))

    def to_string(self, throw_on_error: bool = False, with_details: bool = False) -> str:
        """The variable as one line, with its flags when *with_details* is set."""
        details = f" stop_gradient={self.stop_gradient} persistable={self.persistable}" if with_details else ""
        return repr(self) + details

    # Values of persistable variables live in a scope; any other variable has a value only while the program runs.

    def get_value(self, scope: Scope | None = None) -> DenseTensor:
        """The value in *scope* (the global scope when None); converts with ``np.array``.

        Raises:
            VariableNotFound: it has no value there (a ValueError).
            ArgumentTypeError: *scope* is no Scope (a TypeError).
        """
        return values_module().get_value(self, scope)

    def set_value(self, value: Any, scope: Scope | None = None) -> None:
        """Replace the value in *scope* by a copy of an array.

        Raises:
            ArgumentTypeError: *value* is no array or tensor (a TypeError).
            ShapeError: it has another shape (a ValueError).
            DtypeError: it cannot be converted to the variable's dtype without changing its kind (a TypeError).
            VariableNotFound: the variable has no value there yet (a ValueError).
        """
        values_module().set_value(self, value, scope)

    # A static variable has no value while the program is being built.

    def __bool__(self) -> bool:
        trace = state.tracing.get()
        return True if trace is None else trace.asked_for_truth(self)

    def __float__(self) -> float:
        raise TypeError(f"float() needs a value, and '{self.name}' has none until the program runs")

    def __int__(self) -> int:
        raise TypeError(f"int() needs a value, and '{self.name}' has none until the program runs")

    def __len__(self) -> int:
        raise TypeError(f"len() of the static variable '{self.name}': use its shape attribute")

    def _needs_dynamic(self, what: str) -> Any:
        raise ModeError(
            f"'{what}()' works on dynamic tensors, and '{self.name}' is a variable of a static program.",
            hint="use static.append_backward or static.gradients, and fetch values with Executor.run",
        )

    def numpy(self) -> Any:
        return self._needs_dynamic("numpy")

    def backward(self, grad_tensor: Any = None, retain_graph: bool = False) -> Any:
        return self._needs_dynamic("backward")

    def gradient(self) -> Any:
        return self._needs_dynamic("gradient")

    def clear_gradient(self, set_to_zero: bool = True) -> Any:
        return self._needs_dynamic("clear_gradient")


_STOP_GRADIENT: Any = Variable.__dict__["stop_gradient"]


def _stop(variable: Variable, value: bool) -> None:
    """Set ``stop_gradient``, and note where."""
    if value:
        variable.standing = variable.standing._replace(stopped_at=source.here())
    _STOP_GRADIENT.__set__(variable, value)


def restore_variable(variable: Variable, stop_gradient: bool, standing: Standing) -> None:
    """Give a variable back what it was; no line has set it."""
    variable.standing = standing
    _STOP_GRADIENT.__set__(variable, stop_gradient)


_NOTED_STOP = property(_STOP_GRADIENT.__get__, _stop)


@watch.when_switched
def _switch() -> None:
    """While somebody watches, the line that sets ``stop_gradient`` is noted; otherwise it is a plain slot."""
    attribute = _NOTED_STOP if watch.noting else _STOP_GRADIENT
    if Variable.__dict__["stop_gradient"] is not attribute:  # what CPython knows of a class is lost when it is set
        setattr(Variable, "stop_gradient", attribute)  # noqa: B010


class Parameter(Variable):
    """A persistable variable that training changes.

    Attributes:
        trainable: whether ``append_backward`` returns it by default; independent of ``stop_gradient`` afterwards.
        optimize_attr: ``{"learning_rate": factor}``.
        regularizer, need_clip, do_model_average, is_distributed: settings for optimizers.
        layer_path: the Python path of the parameter in its model (``item_fc.weight``), if a Layer made it.
    """

    __slots__ = (
        "do_model_average",
        "is_distributed",
        "layer_path",
        "need_clip",
        "optimize_attr",
        "regularizer",
        "trainable",
    )

    is_parameter = True

    def __init__(
        self,
        block: Block,
        name: str,
        spec: TensorSpec,
        *,
        trainable: bool = True,
        learning_rate: float = 1.0,
        regularizer: Any = None,
        need_clip: bool = True,
        do_model_average: bool = True,
        loc: Location = NOWHERE,
    ) -> None:
        if UNKNOWN in spec.shape or any(d < 0 for d in spec.shape):
            raise ParameterShapeError(
                f"parameter '{name}': every dimension must be known, but the shape is {list(spec.shape)}"
            )
        super().__init__(block, name, spec, stop_gradient=not trainable, persistable=True, loc=loc)
        self.trainable = trainable
        self.optimize_attr = {"learning_rate": learning_rate}
        self.regularizer = regularizer
        self.need_clip = need_clip
        self.do_model_average = do_model_average
        self.is_distributed = False
        self.layer_path: str | None = None


def gradient_variable(block: Block, name: str, v: Variable) -> Variable:
    """A new variable for a gradient of *v*, which the block does not hold yet: an array's is an array."""
    if v.standing is USUAL or v.kind != ARRAY:
        return Variable(block, name, v.spec)
    return Variable(block, name, v.spec, kind=ARRAY)


class ParameterShapeError(ProgramError, AssertionError):
    """A parameter whose shape is not fully known (Paddle raises AssertionError)."""


def declare_again(
    before: Variable, spec: TensorSpec, stop_gradient: bool, persistable: bool, is_data: bool
) -> Variable:
    """*before* itself, declared a second time; raises :class:`NameClash` unless it is the same kind of variable."""
    check_same(before, spec)
    if before.persistable != persistable:
        raise NameClash(
            f"Variable '{before.name}' has been created before. The previous persistable is {before.persistable}, "
            f"the new persistable is {persistable}. They are not matched.",
            made=source.describe(before.made_at),
        )
    before.stop_gradient = stop_gradient
    before.is_data = is_data
    before.block.program.version += 1
    return before


def check_same(before: Variable, spec: TensorSpec) -> None:
    """Raise :class:`NameClash` unless *before* has this spec."""
    if before.shape != spec.shape:
        raise NameClash(
            f"Variable '{before.name}' has been created before. The previous shape is {before.shape}, "
            f"the new shape is {spec.shape}. They are not matched.",
            made=source.describe(before.made_at),
        )
    if before.dtype is not spec.dtype:
        raise NameClash(
            f"Variable '{before.name}' has been created before. The previous data type is {before.dtype!r}, "
            f"the new data type is {spec.dtype!r}. They are not matched.",
            made=source.describe(before.made_at),
        )
