"""``paddle.jit``: marks of functions that are programs as well, and switches.

gradtool runs marked functions as Python: values and gradients are those of dynamic mode, and every line stays one that
can be asked about. Programs are made when they are asked for.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, UnsupportedError, UsageError


def to_static(
    function: Any = None,
    input_spec: Sequence[Any] | None = None,
    build_strategy: Any = None,
    backend: str | None = "CINN",
    **kwargs: Any,
) -> Any:
    """*function*, or a Layer, that can be asked for its program: ``concrete_program``, ``main_program``, ``jit.save``.

    A call runs the Python as it is, in dynamic mode. For a program, branches and loops that a tensor decides about
    become operators of it; what a program cannot hold is refused with the line.

    Args:
        function: a function, a method in the body of its class, or a Layer, whose ``forward`` it is; without one, a
            decorator is returned.
        input_spec: what describes the tensors: ``InputSpec``, or lists and dicts of them.
        build_strategy, backend: of Paddle's compilation; they change no value.
        kwargs: ``full_graph=True`` has one effect, as in Paddle: in test mode (``eval()``) a layer whose ``forward``
            it is computes without gradients. Others are taken and not used.

    Raises:
        ArgumentTypeError: *function* is nothing that can be called, *input_spec* no list (a TypeError).
        UsageError: another backend than Paddle has (a ValueError).

    Example:
        >>> from gradtool import paddle
        >>> @paddle.jit.to_static(input_spec=[paddle.static.InputSpec([None], "float32", "x")])
        ... def double(x):
        ...     return x * 2
        >>> double(paddle.ones([1])).item()
        2.0
        >>> [op.type for op in double.main_program.global_block().ops]
        ['scale']
    """
    _check(input_spec, build_strategy, backend)
    whole = bool(kwargs.get("full_graph", False))

    def mark(marked: Any) -> Any:
        return _marked(marked, input_spec, whole)

    return mark if function is None else mark(function)


def _check(input_spec: Any, build_strategy: Any, backend: Any) -> None:
    if build_strategy is not None and type(build_strategy).__name__ != "BuildStrategy":
        raise ArgumentTypeError(
            "Required type(build_strategy) shall be `paddle.static.BuildStrategy`, but received "
            f"{type(build_strategy).__name__}"
        )
    if backend not in ("CINN", "PHI", None):
        raise UsageError(f"Unknown backend {backend}. Only support 'CINN' or None for PHI.")
    if input_spec is not None:
        from ._signature import check_specs

        check_specs(input_spec)


def _marked(function: Any, input_spec: Any, whole: bool) -> Any:
    from gradtool.paddle.nn.layer import Layer

    from ._static_function import StaticFunction

    if isinstance(function, Layer):
        function.__dict__["forward"] = _static(function.forward, input_spec, whole)
        return function
    if isinstance(function, (type, types.BuiltinFunctionType)):
        return function  # nothing of it can be traced
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(StaticFunction(function.__func__, input_spec, full_graph=whole))
    if not callable(function):
        raise ArgumentTypeError(f"to_static takes a function or a Layer, but received {type(function).__name__}.")
    return _static(function, input_spec, whole)


def _static(function: Any, input_spec: Any, whole: bool) -> Any:
    from ._static_function import StaticFunction

    if isinstance(function, StaticFunction):
        input_spec = function.input_spec if input_spec is None else input_spec
        return StaticFunction(function.dygraph_function, input_spec, function.class_instance, full_graph=whole)
    if isinstance(function, types.MethodType):
        return StaticFunction(function.__func__, input_spec, function.__self__, full_graph=whole)
    return StaticFunction(function, input_spec, full_graph=whole)


def not_to_static(func: Any = None) -> Any:
    """*func*, which a trace calls as it is: no branch or loop of it is rewritten; a decorator without it."""
    if func is None:
        return not_to_static
    from .conversion.calls import leave

    leave(func)
    return func


def ignore_module(modules: Sequence[Any]) -> None:
    """Let a trace call the functions of *modules* as they are.

    Raises:
        ArgumentTypeError: no list of modules (a TypeError).
    """
    from .conversion.calls import ignore

    if not isinstance(modules, (list, tuple)):
        raise ArgumentTypeError(f"ignore_module takes a list of modules, but received {type(modules).__name__}.")
    ignore(modules)


def enable_to_static(enable_to_static_bool: bool) -> None:
    """Set whether marked functions record from now on the arguments of their calls, for their programs.

    Raises:
        ArgumentTypeError: no bool (a TypeError).
    """
    if not isinstance(enable_to_static_bool, bool):
        raise ArgumentTypeError(f"enable_to_static takes a bool, but received {type(enable_to_static_bool).__name__}.")
    from ._static_function import enable

    enable(enable_to_static_bool)


def set_code_level(level: int = 100, also_to_stdout: bool = False) -> None:
    """Nothing is logged while functions are rewritten: ``function.code`` is their text.

    Raises:
        ArgumentTypeError: *level* is no whole number (a TypeError).
    """
    _check_level("set_code_level", level)


def set_verbosity(level: int = 0, also_to_stdout: bool = False) -> None:
    """Nothing is logged while functions are rewritten.

    Raises:
        ArgumentTypeError: *level* is no whole number (a TypeError).
    """
    _check_level("set_verbosity", level)


def _check_level(where: str, level: Any) -> None:
    if isinstance(level, bool) or not isinstance(level, int):
        raise ArgumentTypeError(f"{where} takes a whole number, but received {type(level).__name__}.")


def json_to_pdmodel(net: Any, input_spec: Any, load_path: str, save_path: str) -> None:
    """Paddle turns one of its own file formats into another one here.

    Raises:
        UnsupportedError: always.
    """
    raise UnsupportedError(
        "paddle.jit.json_to_pdmodel is not in gradtool: it turns one of Paddle's file formats into another one.",
        hint="paddle.jit.save(net, path, input_spec) writes gradtool's own format",
    )
