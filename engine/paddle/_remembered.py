"""Public functions that remember what their arguments come to.

In dynamic mode, checking the arguments of ``reshape`` or ``x[0]`` and turning them into attributes costs several times
what the operator does on a small tensor. What comes out depends on nothing but the shapes and dtypes of the tensors
and on the other arguments. So a function with the decorator :func:`remembered` runs once for each set of them, while
the operators that it computes are noted. Calls with the same set repeat those operators at once.

It is for functions that compute operators of their tensor arguments and return a result of one of them: no values of
tensors decide anything, nothing is written in place, no state of the process matters. A call that turns out to do
anything else (an operand that is neither an argument nor a result, say) is not remembered and runs as written. So does
every call while someone watches what becomes of tensors, and wants to see each operator.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar, cast

from gradtool.engine.core import generated_code, watch
from gradtool.engine.core.attribute_keys import REMEMBERED
from gradtool.engine.core.spec import DType
from gradtool.engine.core.state import in_static_mode
from gradtool.engine.eager import mode
from gradtool.engine.eager.recipe import BoundOp, Recipe
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.kernels.backend import Backend
from gradtool.engine.kernels.choice import when_chosen
from gradtool.engine.ops.readings import flatten

from ..engine.core.identity import identity

F = TypeVar("F", bound=Callable[..., Any])
Plan = Callable[..., Any]


class RememberedStep(NamedTuple):
    """An operator that was computed."""

    call: BoundOp
    operands: Sequence[Any]
    result: Any


_steps: ContextVar[list[RememberedStep] | None] = ContextVar("gradtool_steps", default=None)
_noting = _steps.get


def computed(recipe: Recipe, call: BoundOp, operands: Sequence[Any]) -> Any:
    """The result of the operator, which is noted if someone wants to repeat it."""
    if mode.casting is not None:
        operands = mode.casting.cast_operands(recipe.op.type, operands)
    call.check(operands)
    result = recipe.record(call, *operands)
    steps = _noting()
    if steps is not None:
        steps.append(RememberedStep(call, operands, result))
    return result


def read_value() -> None:
    """Say that the value of a tensor decides what is computed: the call under way is not one to repeat."""
    steps = _noting()
    if steps is not None:
        steps.append(RememberedStep(None, (object(),), None))  # type: ignore[arg-type]


called_directly: dict[Callable[..., Any], Callable[[Callable[..., Any]], Callable[..., Any]]] = {}
"""By function: from a function that takes more names of arguments to one that takes them too, and computes by itself
where there are none. One function less between the user and the operator: that costs as much as a small operator."""


_all_plans: list[dict[Any, tuple[Plan, BoundOp] | None]] = []


@when_chosen
def _forget(before: Backend, now: Backend) -> None:
    """Plans hold operators that are bound to a backend."""
    for plans in _all_plans:
        plans.clear()


def remembered(function: F) -> F:
    """*function*, which in dynamic mode repeats the operators of an earlier call with arguments of the same kind."""
    plans: dict[Any, tuple[Plan, BoundOp] | None] = {}
    _all_plans.append(plans)

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        if in_static_mode() or watch.noting or mode.casting is not None or _noting() is not None:
            return function(*args, **named)
        # the key: two entries for each argument
        tensors: list[Tensor] = []
        kinds: list[Any] = []
        try:
            for value in (*args, *named.values()) if named else args:
                if isinstance(value, Tensor):
                    array = value.array
                    tensors.append(value)
                    kinds += array.shape, array.dtype.num
                else:
                    kind = type(value)
                    read = _READ[kind]
                    kinds += kind, value if read is None else read(value, tensors)
        except KeyError:
            return function(*args, **named)
        if named:
            kinds += named
        if len(tensors) > 1 and len({*tensors}) < len(tensors):  # which of them are the same matters
            places = {t: i for i, t in enumerate(dict.fromkeys(tensors))}
            kinds.append(tuple([places[t] for t in tensors]))
            tensors = [*places]
        key = tuple(kinds)
        # what it came to before
        entry = plans.get(key)
        if entry is not None:
            plan, first = entry
            return plan(first, *tensors)
        if key in plans:
            return function(*args, **named)
        # the first call of this kind
        steps: list[RememberedStep] = []
        token = _steps.set(steps)
        try:
            result = function(*args, **named)
        finally:
            _steps.reset(token)
        if len(plans) >= REMEMBERED:
            plans.clear()
        plans[key] = _plan(function.__name__, tensors, steps, result)
        return result

    called_directly[call] = remembered
    return cast(F, call)


def _list_kind(value: Any, tensors: list[Tensor]) -> Any:
    for v in value:
        if type(v) is not int:
            return tuple([_kind(v, tensors) for v in value])
    return tuple(value)


def _slice_kind(value: slice, tensors: list[Tensor]) -> Any:
    return tuple([_kind(v, tensors) for v in (value.start, value.stop, value.step)])


def _float_kind(value: float, tensors: list[Tensor]) -> str:
    return value.hex()  # tells 0.0 from -0.0, and finds NaN again


def _kind(value: Any, tensors: list[Tensor]) -> Any:
    """Return the key for *value*: values that a function can tell apart have different ones.

    Args:
        tensors: gets the tensors in it.

    Raises:
        KeyError: there is nothing that could stand for it, as it could change.
    """
    if isinstance(value, Tensor):
        tensors.append(value)
        return value.array.shape, value.array.dtype.num
    kind = type(value)
    read = _READ[kind]
    return kind, value if read is None else read(value, tensors)


_READ: dict[type, Callable[[Any, list[Tensor]], Any] | None] = {
    **dict.fromkeys((bool, int, str, DType, type(None), type(...))),
    float: _float_kind,
    list: _list_kind,
    slice: _slice_kind,
    tuple: _list_kind,
}
"""By the type of an argument: what gives its part of a key, None where it is that itself."""


def _plan(
    title: str, tensors: Sequence[Tensor], steps: Sequence[RememberedStep], result: Any
) -> tuple[Plan, BoundOp] | None:
    """A function of a call and the tensors that repeats *steps*, and that call; None where there is none such.

    It is text: a closure over the steps takes 0.7 µs more for two operators that take 2.2.
    """
    names = {identity(t): f"x{i}" for i, t in enumerate(tensors)}
    uses = {identity(result)}
    for step in steps:
        uses.update(map(identity, flatten(step.operands, range(len(step.operands)))))
    if not steps or not uses.issuperset(names):  # a tensor that no operator takes was read, as a size, say
        return None
    space: dict[str, Any] = {"__name__": __name__}
    lines = []
    for n, (call, operands, output) in enumerate(steps):
        # what it is called with
        arguments = [_named(v, names) for v in operands]
        if None in arguments:
            return None
        while arguments and not call.recipe.listed and arguments[-1] in ("None", "[]"):
            arguments.pop()
        # which of several outputs is used
        record = call.recipe.record
        if isinstance(output, tuple) and identity(output) not in uses:
            used = [j for j, v in enumerate(output) if v is not None and identity(v) in uses]
            if len(used) != 1:
                return None
            record, output = call.recipe.only(used[0]), output[used[0]]
        if len(steps) == 1 and output is result and arguments == [f"x{i}" for i in range(len(tensors))]:
            return record, call
        # the line that repeats it
        _name(output, f"r{n}", names)
        space |= {f"record{n}": record, f"call{n}": call}
        lines.append(f"r{n} = record{n}(call{n}, {', '.join(arguments)})")  # type: ignore[arg-type]
    if identity(result) not in names:
        return None
    del space["call0"]
    parameters = ["call0", *(f"x{i}" for i in range(len(tensors)))]
    body = generated_code.indent([*lines, f"return {names[identity(result)]}"])
    plan = generated_code.compile_function(
        "plan", f"{title}, remembered", [f"def plan({', '.join(parameters)}):", *body], space
    )
    return plan, steps[0].call


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _name(output: Any, name: str, names: dict[int, str]) -> None:
    """Call *output*, and each entry of a list, by that name."""
    names[identity(output)] = name
    if isinstance(output, list):
        names.update((identity(v), f"{name}[{j}]") for j, v in enumerate(output))


def _named(operand: Any, names: dict[int, str]) -> str | None:
    """Return the name of *operand* in a plan."""
    if operand is None:
        return "None"
    if not _is_list(operand):
        return names.get(identity(operand))
    entries = [names.get(identity(v)) for v in operand]
    return None if None in entries else f"[{', '.join(entries)}]"  # type: ignore[arg-type]
