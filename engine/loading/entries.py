"""The function of a model file that is called, and its arguments (``--arg``)."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Mapping
from typing import Any

from ..core import state
from ..core.command_errors import CommandError, unknown
from ..eager.tensor import Tensor
from ..ir.variable import Variable
from ..request.request import Request
from ..script import scripts
from ..script.attributes import field, is_a
from ..script.script_state import Loaded
from ..script.users_code import call


def call_entry(loaded: Loaded, function: str | None, request: Request, helpers: frozenset[str] = frozenset()) -> None:
    """Call the function that *function* names or, where that is None, the one that files are known to have.

    Args:
        helpers: those that are left to the file, which calls them itself.

    Raises:
        CommandError: there is no such function, or the arguments do not fit.
        ModelError: it raised.
    """
    names = loaded.namespace
    if function is not None:
        if not callable(names.get(function)):
            functions = [n for n, v in names.items() if is_a(v, types.FunctionType)]
            raise unknown(f"function in {loaded.name}:", function, functions)
        chosen: str | None = function
    else:
        candidates = [n for n in scripts.ENTRIES if n not in helpers]
        chosen = next((n for n in candidates if _is_entry(names.get(n), loaded, request)), None)
    if chosen is None:
        if request.run.arg:
            raise CommandError(
                f"--arg needs a function, and {loaded.name} has neither build() nor model()",
                f"name the function: {request.model}:FUNCTION",
            )
        return
    entry = names[chosen]
    arguments = dict(map(_argument, request.run.arg))
    if request.inputs.arrays is not None and not state.in_static_mode():
        arguments |= _tensors(loaded, entry, request.inputs.arrays)
    loaded.function = chosen
    _check_arguments(chosen, entry, arguments)
    with state.made.watch(loaded.hold):
        loaded.result = call(loaded.name, entry, **arguments)


def _tensors(loaded: Loaded, function: Callable[..., Any], arrays: Mapping[str | None, Any]) -> dict[str, Any]:
    """Those of the arrays that *function* takes as tensors by its arguments; one without a name is for the only one."""
    import inspect

    from gradtool.paddle import to_tensor

    parameters = inspect.signature(function).parameters.values()
    named = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    needed = [p.name for p in parameters if p.name in named and p.default is p.empty]
    anything = any(p.kind is p.VAR_KEYWORD for p in parameters)
    told = {needed[0] if key is None and len(needed) == 1 else key: key for key in arrays}
    taken = {name: key for name, key in told.items() if name is not None and (anything or name in named)}
    loaded.taken |= {*taken.values()}
    return {name: to_tensor(arrays[key]) for name, key in taken.items()}


def must_take(loaded: Loaded, request: Request) -> None:
    """Raise :class:`CommandError` where arrays are given that nothing in a model of dynamic mode takes.

    A program is fed what its function did not take; what it has no variable for is refused there.
    """
    left = [name for name in request.inputs.arrays or () if name not in loaded.taken]
    if not left:
        return
    from .opening import kind_of

    if not kind_of(loaded, request).computes_while_loading:
        return
    if loaded.function is None:
        raise CommandError(
            f"{loaded.name} takes no arrays: it is no program, and no function of it was called",
            f"put the model into a function of the arrays, and name it: {request.model}:FUNCTION",
        )
    if left[0] is None:
        raise CommandError(
            f"one array without a name, and {loaded.function}() has not just one argument",
            "np.savez(FILE, NAME=array) names it",
        )
    import inspect

    raise unknown(
        f"argument of {loaded.function}():", left[0], inspect.signature(loaded.namespace[loaded.function]).parameters
    )


def _is_entry(value: Any, loaded: Loaded, request: Request) -> bool:
    """Return whether a function is called without arguments; a helper that needs some is not, in a file that has
    computed.

    Neither is one in a file that ran backward: what it makes of its functions is what was meant.
    """
    marked = field(value, "dygraph_function")
    value = value if marked is None else marked  # one that to_static marked is the function that it was
    if not is_a(value, types.FunctionType):
        return False
    wanted = bool(request.run.arg) or request.inputs.arrays is not None
    if (loaded.calls.swept or loaded.calls.appended) and not wanted:
        return False
    code, defaults = value.__code__, value.__defaults__ or ()
    needs = code.co_argcount > len(defaults) or code.co_kwonlyargcount > len(value.__kwdefaults__ or {})
    if not needs or wanted:
        return True
    return not any(is_a(v, (Tensor, Variable)) for v in loaded.namespace.values())


def _argument(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise CommandError(f"--arg {text}: expected NAME=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return name, value


def _check_arguments(name: str, function: Callable[..., Any], arguments: dict[str, Any]) -> None:
    import inspect

    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(**arguments)
    except TypeError as error:
        raise CommandError(f"{name}{signature}: {error}", "--arg NAME=VALUE gives an argument") from None
