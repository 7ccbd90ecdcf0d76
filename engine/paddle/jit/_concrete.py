"""``ConcreteProgram``: one program of a function, for tensors of certain shapes and types."""

from __future__ import annotations

import functools
import inspect
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine.core import source, state
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.executor.scope import global_scope
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.variable import Variable
from gradtool.paddle import _creation
from gradtool.paddle._structure import leaves
from gradtool.paddle.nn.layer import Layer

from ._signature import Signature, SignatureInputs, bound
from .conversion.calls import converted
from .conversion.growing import ListInProgram
from .conversion.refusals import Unset, refused
from .tracing import Trace


class ConcreteProgram:
    """Program that a function computes of its tensors.

    Attributes:
        function: the function of Python.
        inputs: the variables that are fed, and other arguments, in the order of the parameters.
        outputs: the variables that the function returns, in order.
        structure: what it returns, with variables in the place of tensors.
        feeds: of *inputs*, the variables.
        tensors: by the name of a persistable variable, the tensor of dynamic mode whose value it has.
        main_program, startup_program: the programs.
        kwargs: of the call.
        modes: whether the layer whose method it is, and each below it, worked as in training.
    """

    def __init__(
        self, function: Callable[..., Any], trace: Trace, arguments: inspect.BoundArguments, feeds: Any
    ) -> None:
        self.function = function
        self.inputs = leaves([list(arguments.args), arguments.kwargs])
        self.feeds: list[Variable] = feeds
        self.kwargs = arguments.kwargs
        self.structure: Any = None
        self.outputs: list[Variable] = []
        self.tensors: dict[str, Tensor] = trace.tensors
        self.main_program: Program = trace.program
        self.startup_program: Program = trace.startup
        self.modes: tuple[bool, ...] = ()

    def give_values(self) -> None:
        """Put copies of the values that the program needs into the current scope, for whoever runs it.

        What a program of the user's has there under the same name stays.
        """
        scope = global_scope()
        given = _given.setdefault(scope, set())
        for name, tensor in self.tensors.items():
            if name in given or name not in scope.values:
                scope.values[name] = np.array(tensor.array)
                given.add(name)

    @property
    def parameters(self) -> list[Tensor]:
        """The parameters and buffers that the program reads, by their names."""
        return [self.tensors[name] for name in sorted(self.tensors)]


def traced(function: Callable[..., Any], called: Signature, name: str) -> ConcreteProgram:
    """The program of *function* for a call.

    Args:
        function: a function of Python, bound to its object if it is a method.

    Raises:
        ConversionError: it holds what no program can hold; says which line (a TypeError and a RuntimeError).
        NotBound: a parameter has neither a value nor a description (a ValueError).
    """
    arguments = bound(function, called, name)
    trace, inputs = Trace(), SignatureInputs()
    owner = getattr(function, "__self__", None)
    with trace.running(*(() if owner is None else (owner,)), *_captured_objects(function)):
        for parameter, value in list(arguments.arguments.items()):
            arguments.arguments[parameter] = inputs.of(parameter, value)
        concrete = ConcreteProgram(function, trace, arguments, inputs.variables)
        try:
            returned = converted(function)(*arguments.args, **arguments.kwargs)
        except RecursionError:
            raise refused(
                f"{name} calls itself without end: where a tensor decides whether it does, both ways are traced",
                "write it as a loop",
                source.NOWHERE,
            ) from None
        concrete.structure, concrete.outputs = _outputs(trace, returned, inputs.variables, name)
        trace.finish()
    trace.check()
    return concrete


_given: weakref.WeakKeyDictionary[Any, set[str]] = weakref.WeakKeyDictionary()
"""By scope, the names of the values that traces put there."""


def _captured_objects(function: Any) -> list[Any]:
    """The layers around a function: what it closes over."""
    while isinstance(function, functools.partial):
        function = function.func
    plain = function.__func__ if isinstance(function, types.MethodType) else function
    cells = getattr(plain, "__closure__", None) or ()
    held = []
    for cell in cells:
        try:
            held.append(cell.cell_contents)
        except ValueError:  # not assigned to yet
            continue
    return [v for v in held if isinstance(v, Layer)]


def _outputs(trace: Trace, returned: Any, feeds: list[Variable], name: str) -> tuple[Any, list[Variable]]:
    """Return the returned structure, and each of its tensors as a variable of its own that the program computes."""
    found: list[Variable] = []

    def output(value: Any) -> Any:
        if isinstance(value, Tensor):
            value = trace.captured(value)
        if isinstance(value, Unset):
            value.read()
        if isinstance(value, ListInProgram):
            raise refused(
                f"{name} returns a list that grows in a loop, where a tensor decides how often",
                "return one tensor: paddle.stack(entries) or paddle.concat(entries)",
                value.array.made_at,
            )
        if not isinstance(value, Variable):
            return value
        trace.check_output(value)
        with state.static_mode():
            taken = value.is_data or value.persistable or any(value is v for v in (*feeds, *found))
            value = _creation.assign(value) if taken else value
        found.append(value)
        return value

    return _mapped(output, returned), found


def _mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """*value* with *function* of each leaf, in the order in which it holds them."""
    if isinstance(value, dict):
        return {k: _mapped(function, v) for k, v in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_mapped(function, v) for v in value))
    if isinstance(value, (list, tuple)):
        return (
            [_mapped(function, v) for v in value]
            if isinstance(value, list)
            else tuple(_mapped(function, v) for v in value)
        )
    return function(value)
