"""``static.nn.while_loop``: repeating a block as long as a condition holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from gradtool.engine.core import source, state
from gradtool.engine.core.errors import ArgumentTypeError, DtypeError, ShapeError, UsageError, expect_type
from gradtool.engine.core.spec import UNKNOWN, Shape
from gradtool.engine.ir import default
from gradtool.engine.ir.holders import close_loop
from gradtool.engine.ir.program import Block, Program
from gradtool.engine.ir.renew import Loop, current, renew, spread_gradients, take_back
from gradtool.engine.ir.transaction import append_or_nothing
from gradtool.engine.ir.variable import ARRAY, Variable
from gradtool.paddle import _creation
from gradtool.paddle._arguments import tensor
from gradtool.paddle._structure import difference, leaves, packed

_HERE = "static.nn.while_loop"


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    is_test: bool = False,
    name: str | None = None,
) -> Any:
    """Replace *loop_vars* by what *body* makes of them, as long as *cond* holds.

    Args:
        cond: takes the loop variables; returns a bool variable of one element.
        body: takes the loop variables; returns new values for them, in the same structure. In static mode it is called
            once, to build a block.
        loop_vars: variables, or nested lists, tuples and dicts of them.
        is_test: noted in the program. What a backward part needs is kept only while gradients are computed anyway.

    Returns:
        The loop variables after the last iteration, in the structure of *loop_vars*.

    Raises:
        ArgumentTypeError: an argument, or what *cond* returns, is of a wrong type (a TypeError).
        UsageError: no loop variables, or *body* returns another structure (a ValueError).

    Gradients flow through the loop, also to parameters that the body uses and to values that the loop overwrites. What
    was given in *loop_vars* still stands for the values before the loop.

    >>> from gradtool import paddle
    >>> i, total = paddle.to_tensor(0), paddle.to_tensor(0)
    >>> i, total = paddle.static.nn.while_loop(lambda i, t: i < 5, lambda i, t: [i + 1, t + i], [i, total])
    >>> total.item()
    10
    """
    if not callable(cond):
        raise ArgumentTypeError("cond in while_loop should be callable")
    if not callable(body):
        raise ArgumentTypeError("body in while_loop should be callable")
    expect_type(loop_vars, (list, tuple), "loop_vars", _HERE)
    if not loop_vars:
        raise UsageError("loop_vars in while_loop should not be empty")
    if not state.in_static_mode():
        return _computed(cond, body, loop_vars)
    main = default.default_main_program()
    shapes: dict[int, Shape] = {}
    while True:
        try:
            with append_or_nothing(main, default.default_startup_program()):
                return _built(main, cond, body, loop_vars, is_test, shapes)
        except _OtherShape as other:
            shapes[other.place] = other.shape


class _OtherShape(Exception):
    """The body returns a loop variable in a shape that it did not have: dimensions that change are not known."""

    def __init__(self, place: int, shape: Shape) -> None:
        super().__init__(place, shape)
        self.place = place
        self.shape = shape


def _computed(cond: Any, body: Any, loop_vars: Any) -> Any:
    """The loop in dynamic mode."""
    values = loop_vars
    while _holds(cond(*values)):
        values = _returned(body(*values), loop_vars)
    return values


def _holds(answer: Any) -> bool:
    return bool(_condition(answer).item())


def _condition(answer: Any) -> Any:
    """Return the checked result of ``cond``."""
    tensor(answer, "var of cond returned", _HERE, ("bool",))
    if answer.spec.count not in (1, -1):
        raise ShapeTypeError(
            f"the shape of the variable returned by cond should be [1], but given shape as {list(answer.shape)}."
        )
    return answer


class ShapeTypeError(ArgumentTypeError):
    """A condition of several elements (Paddle raises TypeError)."""


def _returned(values: Any, loop_vars: Any) -> list[Any]:
    """Return the results of the body, checked against the loop variables."""
    outputs = list(values) if isinstance(values, (list, tuple)) else [values]
    why = difference(outputs, list(loop_vars))
    if why is not None:
        raise UsageError(
            f"body in while_loop should return the same arity (length and structure) as loop_vars: there are {why}"
        )
    return outputs


def _built(main: Program, cond: Any, body: Any, loop_vars: Any, is_test: bool, shapes: dict[int, Shape]) -> Any:
    parent = main.current_block()
    taken: set[Variable] = set()
    own = [_own(parent, v, taken, shapes.get(i)) for i, v in enumerate(leaves(loop_vars))]
    loop = Loop(parent)
    table = renew(loop, [v for v in own if isinstance(v, Variable) and v.kind != ARRAY])
    try:
        carry = packed(loop_vars, [table.get(v, v) if isinstance(v, Variable) else v for v in own])
        _append_loop(main, loop, cond, body, carry, is_test)
    except BaseException:
        take_back(loop, table)
        raise
    return carry


def _append_loop(main: Program, loop: Loop, cond: Any, body: Any, carry: Any, is_test: bool) -> None:
    """Build the condition and the body of a loop over the variables *carry*, and append its operator."""
    parent = loop.block
    variables = {v for v in leaves(carry) if isinstance(v, Variable)}
    go_on = _condition(cond(*carry))
    if go_on.block is not parent or go_on.persistable or go_on.is_data:
        go_on = _creation.assign(go_on)  # the body writes it
    block = main._create_block()
    main.open_loops += 1
    try:
        returned = _returned(body(*carry), carry)
        _check_kept(carry, returned)
        again = _condition(cond(*returned))
        pairs = [(x, v) for x, v in zip(leaves(returned), leaves(carry), strict=True) if isinstance(v, Variable)]
        pairs = [(x, v) for x, v in pairs if v.kind != ARRAY or x is not v]  # an array was written in place
        pairs = [(_movable(x, v, variables), v) for x, v in pairs]
        if again in variables:
            again = _creation.assign(again)
        for value, v in pairs:
            _creation.assign(value, v)
        _creation.assign(again, go_on)
    finally:
        main.open_loops -= 1
    main._rollback()
    _open_gradients(block, {v: value for value, v in pairs})
    loop.op = close_loop(parent, block, go_on, is_test)


def _own(parent: Block, value: Any, taken: set[Variable], shape: Shape | None) -> Any:
    """A loop variable that the loop may overwrite: the one given, or a copy.

    A parameter keeps its value, and so does a variable of a block further out. A variable whose gradient was cut on
    purpose stays cut, though the loop's results may need gradients.
    """
    if not isinstance(value, Variable) or value.kind == ARRAY:
        return value  # arrays are written in place: there is but one, before the loop and after it
    v = current(value)
    own = v.block is parent and v is value and not v.persistable
    if not own or v in taken or shape is not None or _is_cut(v):
        v = cast(Variable, _creation.assign(v))
    if shape is not None:
        v.spec = v.spec.replace_shape(shape)
    taken.add(v)
    return v


def _is_cut(v: Variable) -> bool:
    """Return whether gradients stop at *v* although they would reach what it is computed from."""
    if v.op is None or not (v.stop_gradient and v.dtype.is_differentiable and v.op.op.differentiable):
        return False
    return any(not i.stop_gradient for i in v.op.input_variables())


def _movable(value: Any, v: Variable, variables: set[Variable]) -> Any:
    """Return the value for the loop variable *v*; another loop variable is read before it is written."""
    return _creation.assign(value) if value in variables and value is not v else _as_variable(value, v)


def _as_variable(value: Any, v: Variable) -> Any:
    """*value*, or a variable like *v* filled with it if it is a number."""
    return value if isinstance(value, Variable) else _creation.full_like(v, value)


def _check_kept(carry: Any, returned: Any) -> None:
    """Raise the error for a loop variable that the body replaces by something of another kind."""
    for i, (value, v) in enumerate(zip(leaves(returned), leaves(carry), strict=True)):
        if not isinstance(v, Variable):
            if value is not v and value != v:
                raise ArgumentTypeError(
                    f"while_loop: the loop variable {v!r} is no variable, so the body cannot change it.",
                    hint="pass paddle.full([1], value, dtype) instead of a number",
                )
            continue
        if isinstance(value, Variable) and value.dtype is not v.dtype:
            raise DtypeError(
                f"while_loop: the loop variable '{v.name}' is {v.dtype.name}, but the body returns {value.dtype.name}.",
                hint=f"cast it: paddle.cast(value, {v.dtype.name!r})",
            )
        if isinstance(value, Variable) and value.shape != v.shape:
            _check_shape(i, value, v)


def _check_shape(i: int, value: Variable, v: Variable) -> None:
    if value.ndim != v.ndim:
        raise ShapeError(
            f"while_loop: the loop variable '{v.name}' has {v.ndim} dimensions, {list(v.shape)}, but the body returns "
            f"{value.ndim}: {list(value.shape)}.",
            made=source.describe(value.made_at),
        )
    shape = tuple(m if n in (m, UNKNOWN) else UNKNOWN for m, n in zip(v.shape, value.shape, strict=True))
    if shape != v.shape:
        raise _OtherShape(i, shape)


def _open_gradients(block: Block, values: dict[Variable, Variable]) -> None:
    """Let gradients through the loop variables that the body computes from something that needs them.

    Args:
        values: for each loop variable, what the body replaces it by.
    """
    fresh: set[Variable] = set()
    changed = True
    while changed:
        changed = False
        for v, value in values.items():
            if v.stop_gradient and v.dtype.is_differentiable and not value.stop_gradient:
                v.stop_gradient = False
                fresh.add(v)
                changed = True
        if changed:
            spread_gradients(block, fresh)
