"""Parameters and how they are set up: ``ParamAttr``, ``create_parameter``, ``create_global_var``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine.core import source, state
from gradtool.engine.core.errors import ArgumentTypeError, DtypeError, UsageError
from gradtool.engine.core.spec import TensorSpec
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.eager.parameter import TensorParameter
from gradtool.engine.ir import build, default
from gradtool.engine.ir.program import Block
from gradtool.engine.ir.variable import Parameter, Variable
from gradtool.engine.ops import registry

from ._dispatch import apply
from .nn import initializer
from .utils import unique_name


class ParamAttr:
    """Settings of a parameter.

    Args:
        name: its name; generated when None. Two parameters of one name are one parameter.
        initializer: how the startup program fills it; the layer's default when None.
        learning_rate: factor on the optimizer's learning rate.
        regularizer: weight decay of its own.
        trainable: False makes it a constant for gradients.
        need_clip: whether gradient clipping includes it.
    """

    of_two = False
    """Whether it is computed from two parameters (``static/_weight_norm.py``)."""

    def __init__(
        self,
        name: str | None = None,
        initializer: Any = None,
        learning_rate: float = 1.0,
        regularizer: Any = None,
        trainable: bool = True,
        do_model_average: bool = True,
        need_clip: bool = True,
    ) -> None:
        self.name = name
        self.initializer = initializer
        self.learning_rate = learning_rate
        self.regularizer = regularizer
        self.trainable = trainable
        self.do_model_average = do_model_average
        self.need_clip = need_clip

    @staticmethod
    def of(attr: Any) -> ParamAttr | None:
        """Return what an ``attr`` argument represents; None for False (no parameter).

        Raises:
            ArgumentTypeError: it is no ParamAttr, name, initializer, bool or None (a TypeError).
        """
        if attr is None or attr is True:
            return ParamAttr()
        if attr is False:
            return None
        if isinstance(attr, ParamAttr):
            return attr
        if isinstance(attr, str):
            return ParamAttr(name=attr)
        if isinstance(attr, initializer.Initializer):
            return ParamAttr(initializer=attr)
        raise ArgumentTypeError(f"{type(attr)} cast to ParamAttr")

    @staticmethod
    def _to_attr(arg: Any) -> Any:
        """A ParamAttr of what an ``attr`` argument may be, or a list of them; False for False. Layers of users ask it.

        Raises:
            ArgumentTypeError: it is nothing of that kind (a TypeError).
        """
        if isinstance(arg, (list, tuple)):
            return [ParamAttr._to_attr(entry) for entry in arg]
        return ParamAttr.of(arg) or False

    def _to_kwargs(self, with_initializer: bool = False) -> dict[str, Any]:
        """The settings as arguments of a Parameter."""
        settings = {
            "name": self.name,
            "optimize_attr": {"learning_rate": self.learning_rate},
            "regularizer": self.regularizer,
            "trainable": self.trainable,
            "do_model_average": self.do_model_average,
            "need_clip": self.need_clip,
        }
        return {**settings, "initializer": self.initializer} if with_initializer else settings


class NegativeSize(UsageError, AssertionError):
    """A parameter of negative size (Paddle raises AssertionError)."""


def make(
    layer: str,
    attr: Any,
    shape: Sequence[int],
    dtype: Any,
    *,
    is_bias: bool = False,
    default_init: Any = None,
) -> Parameter | TensorParameter | None:
    """A layer's parameter, called ``<layer>.w_0`` or ``<layer>.b_0`` unless *attr* names it.

    Returns:
        In static mode a parameter of the main program, which the startup program initialises; in dynamic mode a tensor
        that has its values at once; None when *attr* is False.
    """
    settings = ParamAttr.of(attr)
    if settings is None:
        return None
    if settings.of_two:
        from .static import _weight_norm

        return _weight_norm.weight(layer, settings, shape, dtype, default_init)  # type: ignore[arg-type, return-value]
    static = state.in_static_mode()
    count = default.default_main_program().names if static else unique_name.generate
    name = settings.name or count(f"{layer}.{'b' if is_bias else 'w'}")
    kind = dtype_of(dtype)
    init = settings.initializer or initializer.everywhere(is_bias) or default_init
    if init is None:
        if not kind.is_floating:
            raise DtypeError(f"parameter '{name}' of dtype {kind.name} needs an initializer")
        init = initializer.Constant(0.0) if is_bias else initializer.XavierUniform()
    dims = tuple(int(d) for d in shape)
    for i, size in enumerate(dims):
        if size < 0:
            raise NegativeSize(
                f"Expected every dim's size to be larger than or equal to 0, but the size of the {i}-th dim is {size} "
                f"for parameter '{name}' of shape {list(dims)}."
            )
    flags: dict[str, Any] = {
        "trainable": settings.trainable,
        "learning_rate": settings.learning_rate,
        "regularizer": settings.regularizer,
        "need_clip": settings.need_clip,
        "do_model_average": settings.do_model_average,
    }
    if not static:
        from ._late_values import parameter as tensor_parameter  # of dynamic mode alone

        op_type, attrs = init.operator(TensorSpec(dims, kind))
        spec = TensorSpec(tuple(attrs.get("shape", dims)), kind)  # given values have a shape of their own
        return tensor_parameter(lambda: apply(op_type, attrs=attrs).array, spec, name, flags)
    program = default.default_main_program()
    is_new = name not in program.global_block().vars
    parameter = program.current_block().create_parameter(name, dims, kind, **flags)
    if is_new:
        initialise(name, parameter.spec, init)
    return parameter


def undecided(settings: ParamAttr, shape: Sequence[int], dtype: Any) -> Parameter:
    """A parameter of the main program, and a variable of the startup program that is yet to be filled."""
    assert settings.name is not None
    flags = {n: value for n, value in vars(settings).items() if n not in ("name", "initializer")}
    program = default.default_main_program()
    parameter = program.current_block().create_parameter(settings.name, tuple(shape), dtype_of(dtype), **flags)
    home = _startup_block()
    if settings.name not in home.vars:
        home.add_var(Variable(home, settings.name, parameter.spec, persistable=True, loc=source.here()))
    return parameter


def _startup_block() -> Block:
    """Return the block that initializes variables of the main program, which remembers its program."""
    startup = default.default_startup_program()
    default.default_main_program().startups.setdefault(startup)
    return startup.global_block()


def initialise(name: str, spec: TensorSpec, init: Any) -> None:
    """Append the operator that fills *name* to the startup program."""
    home = _startup_block()
    op_type, attrs = init.operator(spec)
    target = home.vars.get(name)
    if target is None:
        filled = TensorSpec(tuple(attrs.get("shape", spec.shape)), spec.dtype)
        target = home.add_var(Variable(home, name, filled, persistable=True, loc=source.here()))
    op = registry.get_by_type(op_type)
    # Of the operators that fill parameters, only uniform_random lists its empty slots (as Paddle's programs show).
    inputs = tuple(() if s.many else None for s in op.inputs) if op_type == "uniform_random" else ()
    build.emit(home, op, inputs, attrs, [target])


def create_parameter(
    shape: Sequence[int],
    dtype: Any,
    name: str | None = None,
    attr: Any = None,
    is_bias: bool = False,
    default_initializer: Any = None,
) -> Parameter | TensorParameter:
    """A parameter outside any layer, called ``create_parameter_0.w_0`` unless it is named.

    Raises:
        DtypeError: an integer dtype without an initializer (a TypeError).
        NameClash: a variable of that name with another shape or dtype (a ValueError).
    """
    settings = ParamAttr.of(attr)
    if settings is None:
        raise ArgumentTypeError("create_parameter: attr must not be False")
    if settings.name is None and name is not None:
        settings = ParamAttr(**{**vars(settings), "name": name})
    layer = "create_parameter"
    if settings.name is None:
        count = default.default_main_program().names if state.in_static_mode() else unique_name.generate
        layer = count(layer)
    parameter = make(layer, settings, shape, dtype, is_bias=is_bias, default_init=default_initializer)
    assert parameter is not None
    return parameter


def create_global_var(
    shape: Sequence[int],
    value: float,
    dtype: Any,
    persistable: bool = False,
    force_cpu: bool = False,
    name: str | None = None,
) -> Variable:
    """A variable that the startup program sets to *value*; no gradient flows through it."""
    block = default.default_main_program().global_block()
    variable = block.create_var(name, tuple(shape), dtype, stop_gradient=True, persistable=persistable)
    initialise(variable.name, variable.spec, initializer.Constant(value))
    return variable
