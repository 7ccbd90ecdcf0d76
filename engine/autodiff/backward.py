"""``append_backward``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from ..core import state
from ..core.errors import (
    ArgumentTypeError,
    LossTypeError,
    UnknownNameWarning,
    UnsupportedError,
    UnusedCheckpointWarning,
    UsageError,
    expect_type,
)
from ..core.near_names import find_near, shorten
from ..ir import renew
from ..ir.program import Block
from ..ir.variable import Variable
from .backward_part import differentiate, find_start
from .checkpoints import checkpoint_variables

_HERE = "paddle.static.append_backward"


def append_backward(
    loss: Variable,
    parameter_list: Sequence[Variable | str] | set[Variable | str] | None = None,
    no_grad_set: Iterable[Variable | str] | None = None,
    callbacks: Sequence[Callable[..., Any]] | None = None,
    checkpoints: Sequence[Variable | str] | Literal["auto"] | None = None,
    distop_context: None = None,
) -> Any:
    """Append the backward part of *loss* to its program.

    Args:
        loss: a variable of one element that an operator of the program computes.
        parameter_list: the parameters (or their names) whose gradients to return, in this order; all trainable ones
            by default. Other variables of block 0 may be asked for as well. A name that a loop overwrites stands for
            what was given to the loop, in ``no_grad_set`` too, and so does the name of its gradient.
        no_grad_set: variables of block 0 (or their names) at which gradients are cut, in addition to all variables
            with ``stop_gradient=True``.
        callbacks: called as ``callback(block=..., context=...)`` once for each operator that is added after the seed,
            but for forward operators that are computed again; ``context`` maps gradient names to forward names, and
            ``"__current_op_desc__"`` to the operator's description.
        checkpoints: variables (or their names) that backward keeps. The other forward values before the last of them
            are let go of and computed again, one segment after another, where backward needs them: the gradients are
            the same to the bit, memory is less, and time about one more forward pass. ``"auto"`` chooses checkpoints
            that make the memory least, counting a dimension that is not known as 1.

    Returns:
        ``(parameter, gradient)`` pairs. A parameter that no gradient reaches has none. With *checkpoints*, a tuple of
        the pairs and the names of the checkpoints used, in the order in which the program computes them.

    Raises:
        LossTypeError: *loss* is no Variable (an AssertionError and a TypeError).
        LossError: *loss* has several elements, or nothing computes it (a ValueError).
        ArgumentTypeError: another argument of a wrong type (a TypeError).
        VariableNotFound: a checkpoint's name is no variable (a KeyError and a ValueError).
        NoGradientRule: an operator between the parameters and the loss has no gradient (a RuntimeError).

    A call that fails leaves the program as it was. Called again, it reuses the gradient operators that already compute
    the same values and appends only what is new.

    >>> from gradtool import paddle
    >>> paddle.enable_static()
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     x = paddle.static.data("x", [4, 3])
    ...     loss = paddle.mean(paddle.static.nn.fc(x, 2, name="fc"))
    ...     [(p.name, g.name) for p, g in paddle.static.append_backward(loss)]
    [('fc.w_0', 'fc.w_0@GRAD'), ('fc.b_0', 'fc.b_0@GRAD')]
    """
    state.require_static("append_backward")
    if not isinstance(loss, Variable):
        raise LossTypeError(
            f"The type of 'loss' in {_HERE} must be Variable, but received {type(loss).__name__}.",
            hint="pass the variable that the network computes, not its name or value",
        )
    expect_type(callbacks, (list, tuple, type(None)), "callbacks", _HERE)
    for callback in callbacks or ():
        if not callable(callback):
            raise UsageError(f"'callback' must be a callable object, but received {type(callback).__name__}.")
    loss = renew.current(loss)
    where = find_start(loss, _HERE)
    block = loss.block.program.global_block()
    keep = checkpoint_variables(block, checkpoints, _HERE)
    if checkpoints and where.target is not None:
        raise UnsupportedError(
            f"{_HERE}: checkpoints inside a branch are not part of this version of gradtool.",
            hint="leave them out: the gradients are the same, they only need more memory",
        )
    asked = _parameters_to_differentiate(block, parameter_list) if parameter_list is not None else None
    stopped = no_grad_entries(block, no_grad_set, _HERE)
    part = differentiate(loss, stopped, asked, checkpoints=keep, callbacks=tuple(callbacks or ()), where=where)
    state.appended.note(loss, asked, stopped, [v.name for v in part.checkpoints] if checkpoints else [])
    if not checkpoints:
        return part.pairs
    _warn_unused(part.checkpoints if keep is None else keep, part.checkpoints)
    return part.pairs, [v.name for v in part.checkpoints]


def _warn_unused(checkpoints: Sequence[Variable], used: Sequence[Variable]) -> None:
    unused = [v.name for v in dict.fromkeys(checkpoints) if v not in set(used)]
    if unused:
        warnings.warn(
            f"checkpoints that the loss does not depend on are skipped: {', '.join(unused)}",
            UnusedCheckpointWarning,
            stacklevel=3,
        )


def _parameters_to_differentiate(block: Block, parameter_list: Any) -> list[Variable]:
    """The variables whose gradients are asked for, in order."""
    expect_type(parameter_list, (list, tuple, set), "parameter_list", _HERE)
    entries = sorted(parameter_list, key=_name) if isinstance(parameter_list, set) else parameter_list
    asked = []
    for i, entry in enumerate(entries):
        expect_type(entry, (Variable, str), f"parameter_list[{i}]", _HERE)
        v = entry if isinstance(entry, Variable) else renew.find_named(block, entry)
        if v is None:
            _warn_unknown(entry, block, "parameter_list", [p.name for p in block.all_parameters()])
        else:
            asked.append(v)
    return asked


def _name(entry: object) -> str:
    """The name of a variable that is given as such or by its name."""
    return entry.name if isinstance(entry, Variable) else str(entry)


def no_grad_entries(block: Block, no_grad_set: Any, where: str) -> list[Variable | str]:
    """Return the entries of a ``no_grad_set`` argument; unknown names give a warning that lists near matches.

    Raises:
        ArgumentTypeError: not a set, list or tuple, or an element that is neither Variable nor str.
    """
    if no_grad_set is None:
        return []
    expect_type(no_grad_set, (set, frozenset, list, tuple), "no_grad_set", where)
    for entry in no_grad_set:
        if not isinstance(entry, (Variable, str)):
            raise ArgumentTypeError(
                f"The type of no_grad_set's members in {where} must be Variable or str, "
                f"but received {type(entry).__name__}."
            )
        if isinstance(entry, str) and entry not in block.vars:
            _warn_unknown(entry, block, "no_grad_set", list(block.vars))
    return list(no_grad_set)


def _warn_unknown(name: str, block: Block, argument: str, names: list[str]) -> None:
    close = find_near(name, names)
    hint = f"; near names: {', '.join(map(shorten, close))}" if close else ""
    warnings.warn(
        f"{argument} names {shorten(name)!r}, which no variable of block {block.idx} has{hint}",
        UnknownNameWarning,
        stacklevel=4,
    )
