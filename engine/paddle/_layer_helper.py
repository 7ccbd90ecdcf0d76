"""``LayerHelper``: parameters, variables and operators that are named after a layer, for users' functions."""

from __future__ import annotations

from typing import Any

from gradtool import paddle
from gradtool.engine.core import state
from gradtool.engine.core.errors import ArgumentTypeError, DtypeError, ModeError, NotFound, OperatorError, UsageError
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.ir import default
from gradtool.engine.ir.variable import Parameter, Variable
from gradtool.paddle.utils import unique_name

from . import _parameters
from ._dispatch import apply


class UnknownActivation(OperatorError, AttributeError):
    """An activation that is no operator (Paddle raises AttributeError in dynamic mode)."""


class _Helper:
    """Base of both helpers.

    Attributes:
        name: what the names of parameters and variables start with.
        layer_type: the kind of layer.
    """

    def __init__(self, name: str, layer_type: str) -> None:
        self.name, self.layer_type = name, layer_type

    @property
    def main_program(self) -> Any:
        """The program that operators are appended to."""
        return default.default_main_program()

    @property
    def startup_program(self) -> Any:
        """The program that gives parameters their first values."""
        return default.default_startup_program()

    @classmethod
    def get_default_dtype(cls) -> str:
        """Return the default type, as :func:`paddle.get_default_dtype` does."""
        return str(paddle.get_default_dtype())

    @classmethod
    def set_default_dtype(cls, dtype: Any) -> None:
        """Set the default type, as :func:`paddle.set_default_dtype` does."""
        paddle.set_default_dtype(dtype)

    def to_variable(self, value: Any, name: str | None = None) -> Any:
        """*value* as a tensor; variables and tensors as they are.

        Raises:
            ArgumentTypeError: neither that nor a NumPy array (a TypeError).
        """
        if isinstance(value, AnyTensor):
            return value
        if not hasattr(value, "__array__"):
            raise ArgumentTypeError(
                "The type of input value is invalid, expected type is 'ndarray' or 'Variable', "
                f"but received {type(value)}"
            )
        return paddle.assign(value) if state.in_static_mode() else paddle.to_tensor(value)

    def create_parameter(
        self,
        attr: Any,
        shape: Any,
        dtype: Any = None,
        is_bias: bool = False,
        default_initializer: Any = None,
        stop_gradient: bool = False,
        **unused: Any,
    ) -> Any:
        """A parameter ``<name>.w_0``, or ``<name>.b_0`` if *is_bias*; None when *attr* is False."""
        kind = self.get_default_dtype() if dtype is None else dtype
        made = _parameters.make(self.name, attr, shape, kind, is_bias=is_bias, default_init=default_initializer)
        if made is not None and stop_gradient:
            made.stop_gradient = True
        return made

    def create_variable(self, *args: Any, **settings: Any) -> Variable:
        """A variable of the current block; arguments as :meth:`Block.create_var`."""
        self._only_static("create_variable")
        return self.main_program.current_block().create_var(*args, **settings)  # type: ignore[no-any-return]

    def create_variable_for_type_inference(
        self, dtype: Any, stop_gradient: bool = False, shape: Any = None, **unused: Any
    ) -> Variable:
        """A variable ``<name>.tmp_0`` whose shape the operator that writes it settles."""
        self._only_static("create_variable_for_type_inference")
        name = self.main_program.names(f"{self.name}.tmp")
        return self.main_program.current_block().create_var(  # type: ignore[no-any-return]
            name=name, dtype=dtype, shape=shape, persistable=False, stop_gradient=stop_gradient
        )

    create_tmp_variable = create_variable_for_type_inference

    def create_global_variable(self, persistable: bool = False, *args: Any, **settings: Any) -> Variable:
        """A variable of the outermost block."""
        self._only_static("create_global_variable")
        settings.setdefault("name", self.main_program.names(f"{self.name}.tmp"))
        block = self.main_program.global_block()
        return block.create_var(*args, persistable=persistable, **settings)  # type: ignore[no-any-return]

    def create_or_get_global_variable(self, name: str, *args: Any, **settings: Any) -> tuple[Variable, bool]:
        """The variable *name* of the outermost block, and whether it is new."""
        block = self.main_program.global_block()
        if block.has_var(name):
            return block.var(name), False
        return self.create_global_variable(*args, name=name, **settings), True

    def set_variable_initializer(self, var: Variable, initializer: Any) -> Variable:
        """Let the startup program give *var* its first value; returns the variable there."""
        self._only_static("set_variable_initializer")
        _parameters.initialise(var.name, var.spec, initializer)
        return self.startup_program.global_block().var(var.name)  # type: ignore[no-any-return]

    def append_op(self, *args: Any, **settings: Any) -> Any:
        """Append an operator to the current block; arguments as :meth:`Block.append_op`."""
        self._only_static("append_op")
        return self.main_program.current_block().append_op(*args, **settings)

    def get_parameter(self, name: str) -> Any:
        """The parameter *name* of the program.

        Raises:
            NotFound: there is none (a KeyError).
        """
        found = self.main_program.global_block().var(name)
        if not isinstance(found, Parameter):
            raise NotParameter(f"no Parameter name {name} found in {self.name}")
        return found

    def _only_static(self, what: str) -> None:
        if not state.in_static_mode():
            raise ModeError(
                f"{type(self).__name__}.{what}: operators are appended to programs, and in dynamic mode there is none.",
                hint="call the function of paddle that computes it, or call paddle.enable_static() before",
            )

    def _activated(self, value: Any, act: Any) -> Any:
        """*value* after the operator *act*, in both modes."""
        if act is None:
            return value
        if not isinstance(act, str):
            raise ArgumentTypeError(f"{act} should be unicode or str in {self.name}")
        try:
            return apply(act, value, name=self.name)
        except OperatorError as error:
            raise UnknownActivation(
                f"the activation {act!r} of {self.name}: {error.message}", hint=error.hint
            ) from None

    def _common_dtype(self, values: Any) -> Any:
        dtypes = dict.fromkeys(v.dtype for v in values)
        if len(dtypes) > 1:
            first, second, *_ = dtypes
            raise MixedDtypes(f"Data Type mismatch: {first.name} to {second.name} in {self.name}")
        return next(iter(dtypes), None)


class NotParameter(UsageError, NotFound):
    """A variable that is no parameter."""


class MixedDtypes(DtypeError, ValueError):
    """Inputs of several types where one is expected (Paddle raises ValueError)."""


class LayerObjectHelper(_Helper):
    """Helper that a :class:`paddle.nn.Layer` has as ``_helper``."""

    def __init__(self, name: str) -> None:
        super().__init__(name, name)

    def append_activation(self, input_var: Any, act: Any = None, use_cudnn: Any = None) -> Any:
        """*input_var* after the activation whose operator is called *act*; as it is when that is None.

        Raises:
            ArgumentTypeError: *act* is no text (a TypeError).
            UnknownActivation: no operator is called so (a ValueError and an AttributeError).
        """
        return self._activated(input_var, act)

    def input_dtype(self, inputs_in: Any) -> Any:
        """The one type that all inputs have, None without any."""
        several = inputs_in if isinstance(inputs_in, (list, tuple)) else [inputs_in] if inputs_in is not None else []
        return self._common_dtype([self.to_variable(v) for v in several])


class LayerHelper(_Helper):
    """The arguments of a function that makes a layer of a program, and what is made from them.

    Args:
        layer_type: what the layer's name starts with, unless *kwargs* have a ``name``.
        kwargs: the function's arguments, usually ``**locals()``: ``input``, ``param_attr``, ``bias_attr``, ``act``, …

    >>> from gradtool import paddle
    >>> paddle.enable_static()
    >>> from paddle.base.layer_helper import LayerHelper
    >>> def doubled(x, act=None, name=None):
    ...     helper = LayerHelper("doubled", **locals())
    ...     out = helper.create_variable_for_type_inference(dtype=x.dtype)
    ...     helper.append_op(type="scale", inputs={"X": [x]}, outputs={"Out": [out]}, attrs={"scale": 2.0})
    ...     return helper.append_activation(out)
    >>> doubled(paddle.static.data("x", [2, 3]), act="relu").name
    'doubled_0.tmp_1'
    """

    def __init__(self, layer_type: str, **kwargs: Any) -> None:
        self.kwargs = kwargs
        name = kwargs.get("name")
        count = default.default_main_program().names if state.in_static_mode() else unique_name.generate
        super().__init__(count(layer_type) if name is None else name, layer_type)

    def multiple_input(self, input_param_name: str = "input") -> list[Any]:
        """The variables that the function was given as *input_param_name*."""
        inputs = self.kwargs.get(input_param_name, [])
        several = inputs if isinstance(inputs, (list, tuple)) else [inputs]
        return [self.to_variable(v) for v in several]

    def input(self, input_param_name: str = "input") -> Any:
        """The one variable that the function was given as *input_param_name*.

        Raises:
            UsageError: there are several, or none (a ValueError).
        """
        inputs = self.multiple_input(input_param_name)
        if len(inputs) != 1:
            raise UsageError(f"{self.layer_type} layer only takes one input, but received {len(inputs)}")
        return inputs[0]

    @property
    def param_attr(self) -> Any:
        """The settings of the weights."""
        return _parameters.ParamAttr._to_attr(self.kwargs.get("param_attr"))

    @property
    def bias_attr(self) -> Any:
        """The settings of the bias; False for none."""
        return _parameters.ParamAttr._to_attr(self.kwargs.get("bias_attr"))

    def input_dtype(self, input_param_name: str = "input") -> Any:
        """The one type that all inputs have.

        Raises:
            MixedDtypes: they have several (a ValueError).
        """
        return self._common_dtype(self.multiple_input(input_param_name))

    def append_bias_op(self, input_var: Any, dim_start: int = 1, dim_end: int | None = None) -> Any:
        """*input_var* plus a bias of the sizes of its dimensions from *dim_start* on, as ``bias_attr`` says."""
        attr = self.bias_attr
        if attr is False:
            return input_var
        sizes = list(input_var.shape[dim_start:dim_end])
        bias = self.create_parameter(attr, sizes, dtype_of(input_var.dtype), is_bias=True)
        return apply("elementwise_add", input_var, bias, attrs={"axis": dim_start}, name=self.name)

    def append_activation(self, input_var: Any) -> Any:
        """*input_var* after the activation that ``act`` names; as it is without one.

        Raises:
            ArgumentTypeError: ``act`` is no text (a TypeError).
            UnknownActivation: no operator is called so (a ValueError and an AttributeError).
        """
        return self._activated(input_var, self.kwargs.get("act"))
