"""``StaticFunction``: a function of Python that knows its programs.

Calling it runs the Python, in dynamic mode: values, gradients and every line are those of the function as it was
written. A program is made when somebody asks for one, and kept for the shapes, types and Python values of the call.
"""

from __future__ import annotations

import ast
import functools
import inspect
import types
import warnings
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from gradtool.engine.core import settings
from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.state import in_static_mode
from gradtool.engine.eager.mode import no_grad
from gradtool.engine.ir.program import Program
from gradtool.paddle.nn.layer import Layer

from ...engine.core.identity import identity
from ._signature import Signature, check_specs, described, signature, specified

REMEMBERED = 100
"""How many different calls are remembered."""


class SeveralProgramsWarning(UserWarning):
    """A function has several programs, and one of them is given."""


class NoProgramError(UsageError):
    """Nobody has said what tensors a function takes (a ValueError, as in Paddle)."""


class _Switch:
    on = True


def enable(on: bool) -> None:
    """Set whether decorated functions record the arguments of their calls."""
    _Switch.on = on


@settings.register_setting
def _as_it_was() -> Callable[[], None]:
    return partial(enable, _Switch.on)


class Programs:
    """Calls of a function, and the programs that were made of them.

    Attributes:
        calls: by signature, the program; None where nobody has asked for it.
    """

    def __init__(self) -> None:
        self.calls: dict[Signature, Any] = {}
        self._last: Any = None

    def note(self, args: tuple[Any, ...], kwargs: dict[str, Any], instance: Any) -> None:
        """Remember a call, as the last one."""
        # Mostly it is one of tensors alone, like the one before: then there is nothing to do.
        last = None
        if not kwargs:
            try:
                kinds = [(a.array.shape, a.array.dtype, a.stop_gradient) for a in args]
                last = kinds, getattr(instance, "training", None)
            except AttributeError:  # no tensor
                last = None
        if last is not None and last == self._last:
            return
        self._last = last
        called = signature(args, kwargs, instance)
        self.calls[called] = self.calls.pop(called, None)
        if len(self.calls) > REMEMBERED:
            del self.calls[next(iter(self.calls))]


class StaticFunction:
    """A function, or a method of an object, that is a program as well.

    Attributes:
        dygraph_function: the function of Python.
        class_instance: the object whose method it is, or None.
        input_spec: what describes its tensors, or None.
        full_graph: as in Paddle, a layer whose ``forward`` it is computes without gradients in test mode.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        input_spec: Sequence[Any] | None = None,
        instance: Any = None,
        programs: Programs | None = None,
        full_graph: bool = False,
    ) -> None:
        functools.update_wrapper(self, function)
        if input_spec is not None:
            check_specs(input_spec)
        self.dygraph_function = function
        self.class_instance = instance
        self.input_spec = input_spec
        self.full_graph = full_graph
        self._programs = programs if programs is not None else Programs()
        self._of_instances: dict[int, tuple[weakref.ref[Any], Programs]] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if in_static_mode():
            from .conversion.calls import converted

            return converted(self)(*args, **kwargs)
        if _Switch.on:
            self._programs.note(args, kwargs, self.class_instance)
        if self.class_instance is None:
            return self.dygraph_function(*args, **kwargs)
        if (
            self.full_graph
            and _Switch.on
            and isinstance(self.class_instance, Layer)
            and not self.class_instance.training
        ):
            with no_grad():  # Paddle runs a program without a backward part then
                return self.dygraph_function(self.class_instance, *args, **kwargs)
        return self.dygraph_function(self.class_instance, *args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> StaticFunction:
        if instance is None or self.class_instance is not None:
            return self
        programs = self._programs_of(instance)
        return StaticFunction(self.dygraph_function, self.input_spec, instance, programs, self.full_graph)

    def _programs_of(self, instance: Any) -> Programs:
        entry = self._of_instances.get(identity(instance))
        if entry is not None and entry[0]() is instance:
            return entry[1]
        programs = Programs()
        try:
            forgets = functools.partial(_forget, weakref.ref(self), identity(instance))
            self._of_instances[identity(instance)] = weakref.ref(instance, forgets), programs
        except TypeError:  # a class without weak references: programs are made anew each time
            return programs
        return programs

    def __deepcopy__(self, memo: dict[int, Any]) -> StaticFunction:
        import copy

        instance = copy.deepcopy(self.class_instance, memo)
        return StaticFunction(self.dygraph_function, self.input_spec, instance, full_graph=self.full_graph)

    def __repr__(self) -> str:
        return f"<StaticFunction {self._name}>"

    @property
    def __jit_python__(self) -> Callable[..., Any]:
        """Function that a trace runs."""
        if self.class_instance is None:
            return self.dygraph_function
        return types.MethodType(self.dygraph_function, self.class_instance)

    @property
    def _name(self) -> str:
        parameters = ", ".join(inspect.signature(self.dygraph_function).parameters)
        return f"{getattr(self.dygraph_function, '__name__', type(self.dygraph_function).__name__)}({parameters})"

    # -- programs -----------------------------------------------------------------------------------------------------

    @property
    def concrete_program(self) -> Any:
        """The program for ``input_spec``, or else for the last call.

        Raises:
            NoProgramError: there is neither (a ValueError).
            ConversionError: the function holds what no program can hold; says which line.
        """
        return self.concrete_program_specify_input_spec()

    def concrete_program_specify_input_spec(
        self, input_spec: Sequence[Any] | None = None, with_hook: bool = False, is_prim_infer: bool = False
    ) -> Any:
        """The program for tensors that *input_spec* describes; see :attr:`concrete_program`.

        Args:
            with_hook, is_prim_infer: of Paddle's compilation; they change nothing here.
        """
        specs = input_spec if input_spec is not None else self.input_spec
        calls = self._programs.calls
        if specs is not None:
            called = specified(self.__jit_python__, specs, self._name)
            called = called._replace(training=getattr(self.class_instance, "training", None))
        elif calls:
            called = next(reversed(calls))
            if len(calls) > 1:
                warnings.warn(
                    f"{self._name} was called with {len(calls)} kinds of arguments: this is the program of the last.",
                    SeveralProgramsWarning,
                    stacklevel=3,
                )
        else:
            raise NoProgramError(
                f"No valid transformed program for function: {self._name}, input_spec: None. Please specific "
                "`input_spec` in `@paddle.jit.to_static` or feed input tensor to call the decorated function at once.",
                hint="input_spec=[paddle.static.InputSpec([None, 3], 'float32', 'x')]",
            )
        concrete = calls.get(called)
        if concrete is None or concrete.modes != modes_of(self.class_instance):
            concrete = self._traced(called)
            calls[called] = concrete
        concrete.give_values()
        return concrete

    def _traced(self, called: Signature) -> Any:
        from ._concrete import traced

        concrete = traced(self.__jit_python__, called, self._name)
        concrete.modes = modes_of(self.class_instance)
        return concrete

    def forget(self) -> StaticFunction:
        """Make programs anew when they are asked for: what objects hold may have changed; returns the function."""
        for called in self._programs.calls:
            self._programs.calls[called] = None
        return self

    @property
    def main_program(self) -> Program:
        """Main program of :attr:`concrete_program`."""
        return self.concrete_program.main_program  # type: ignore[no-any-return]

    @property
    def inputs(self) -> list[Any]:
        """Those of :attr:`concrete_program`."""
        return self.concrete_program.inputs  # type: ignore[no-any-return]

    @property
    def outputs(self) -> list[Any]:
        """Those of :attr:`concrete_program`."""
        return self.concrete_program.outputs  # type: ignore[no-any-return]

    @property
    def program_cache(self) -> dict[Signature, Any]:
        """By what the function was called with, its program; None where nobody has asked for it."""
        return self._programs.calls

    def get_traced_count(self) -> int:
        """Return the number of programs that have been made."""
        return sum(program is not None for program in self._programs.calls.values())

    @property
    def last_call_input_spec(self) -> list[Any]:
        """Arguments of the last call: an ``InputSpec`` for each tensor."""
        calls = self._programs.calls
        return [described(a) for a in next(reversed(calls)).args] if calls else []

    @property
    def code(self) -> str:
        """The function as it is rewritten for tracing: branches and loops ask the runtime which way to go."""
        from .conversion.rewriting import definition_of

        function = self.dygraph_function
        definition = definition_of(function) if isinstance(function, types.FunctionType) else None
        if definition is None:
            return inspect.getsource(function)
        return ast.unparse(ast.fix_missing_locations(definition)) + "\n"

    def rollback(self) -> Callable[..., Any]:
        """Give a layer the ``forward`` of its class back; the function of Python, bound if it is a method."""
        instance = self.class_instance
        if isinstance(instance, Layer) and isinstance(instance.__dict__.get("forward"), StaticFunction):
            del instance.__dict__["forward"]
        return self.__jit_python__

    def train(self) -> None:
        """Let the layer whose method it is work as in training."""
        self._of_layer("train").train()

    def eval(self) -> None:
        """Let the layer whose method it is work as in testing."""
        self._of_layer("eval").eval()

    def _of_layer(self, what: str) -> Layer:
        if not isinstance(self.class_instance, Layer):
            raise UsageError(f"{what}() is for methods of a layer, and {self._name} is none.")
        return self.class_instance


def modes_of(instance: Any) -> tuple[bool, ...]:
    """Return whether a layer, and each below it, works as in training."""
    if not isinstance(instance, Layer):
        return ()
    return tuple(layer.training for layer in instance.sublayers(include_self=True))


def _forget(function: weakref.ref[StaticFunction], key: int, gone: Any) -> None:
    home = function()
    if home is not None:
        home._of_instances.pop(key, None)
