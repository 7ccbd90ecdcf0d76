"""``static.nn.cond``, ``case`` and ``switch_case``: computing one of several branches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from gradtool.engine.core import source, state
from gradtool.engine.core.errors import ArgumentTypeError, EmptyArgumentError, UsageError, expect_type
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.ir import build, default
from gradtool.engine.ir.holders import close_conditional
from gradtool.engine.ir.program import Block, Program
from gradtool.engine.ir.transaction import append_or_nothing
from gradtool.engine.ir.variable import Variable
from gradtool.engine.ops import registry
from gradtool.paddle import _creation, _logic
from gradtool.paddle._arguments import tensor
from gradtool.paddle._dispatch import apply
from gradtool.paddle._structure import difference, leaves, mapped, packed

Branch = Callable[[], Any]

_NUMBERS = (bool, int, float)
_HERE = "paddle.static.nn.cond"


def cond(
    pred: AnyTensor,
    true_fn: Branch | None = None,
    false_fn: Branch | None = None,
    name: str | None = None,
    return_names: Sequence[str] | None = None,
) -> Any:
    """Return the result of *true_fn* where *pred* is true, else that of *false_fn*; the other one is not computed.

    Args:
        pred: a bool variable of one element.
        true_fn, false_fn: called without arguments; they return a variable or number, or a nested list, tuple or dict
            of them, both of the same structure. In static mode both are called, each building a block; in dynamic
            mode one of them.
        return_names: names of the results for messages.

    Returns:
        The results in the structure that the branches return, or None when both return None.

    Raises:
        ArgumentTypeError: *pred* is no bool variable, or a branch is not callable (a TypeError).
        UsageError: the branches return different structures (a ValueError).

    A variable that only the branch not taken depends on gets a gradient of zeros.

    >>> from gradtool import paddle
    >>> x = paddle.to_tensor([1.0, 2.0])
    >>> paddle.static.nn.cond(x.sum() > 2.0, lambda: x * 2, lambda: x - 1)
    Tensor(shape=[2], dtype=float32, place=Place(cpu), stop_gradient=True,
           [2., 4.])
    """
    if not state.in_static_mode():
        return _computed(pred, true_fn, false_fn)
    tensor(pred, "pred", _HERE, ("bool",))
    expect_type(name, (str, type(None)), "name", _HERE)
    for what, branch in (("true_fn", true_fn), ("false_fn", false_fn)):
        if branch is not None and not callable(branch):
            raise ArgumentTypeError(f"The {what} in cond must be callable, but received {type(branch).__name__}")
    main = default.default_main_program()
    with append_or_nothing(main, default.default_startup_program()):
        on_true = _branch(main, pred, true_fn) if true_fn is not None else None
        on_false = _branch(main, _logic.logical_not(pred), false_fn) if false_fn is not None else None
        if on_true is None and on_false is None:
            return None
        _check_same(on_true, on_false, return_names)
        mask = _creation.cast(pred, "int32")
        pairs = zip(leaves(on_false), leaves(on_true), strict=True)
        return packed(on_false, [_merged(main, mask, f, t) for f, t in pairs])


def _computed(pred: Any, true_fn: Any, false_fn: Any) -> Any:
    """``cond`` in dynamic mode."""
    tensor(pred, "pred", _HERE)
    if pred.size != 1:
        raise UsageError(f"{_HERE}: pred must have one element, but its shape is {list(pred.shape)}.")
    what, branch = ("true_fn", true_fn) if bool(pred.item()) else ("false_fn", false_fn)
    if branch is None:
        return None
    if not callable(branch):
        raise ArgumentTypeError(f"The {what} in cond must be callable, but received {type(branch).__name__}")
    return branch()


def _branch(program: Program, condition: Any, branch: Branch) -> Any:
    """Build *branch* in a block of its own; returns its results as variables around the block."""
    parent = program.current_block()
    block = program._create_block()
    returned = branch()
    results = mapped(partial(copied_out, parent), returned) if returned is not None else None
    program._rollback()
    close_conditional(parent, block, condition)
    return results


def copied_out(parent: Block, value: Any) -> Any:
    """*value*, copied to a variable of the block around the current one if it is a variable."""
    if not isinstance(value, Variable):
        return value
    out = parent.create_var(shape=value.shape, dtype=value.dtype, stop_gradient=value.stop_gradient, type=value.kind)
    out.loc = source.NOWHERE
    _creation.assign(value, out)
    return out


def _check_same(on_true: Any, on_false: Any, return_names: Sequence[str] | None) -> None:
    """Raise the error for results of different structure."""
    if on_true is None or on_false is None:
        missing, there = ("true_fn", "false_fn") if on_true is None else ("false_fn", "true_fn")
        words = {"true_fn": "non-None", "false_fn": "non-None", missing: "None"}
        raise UsageError(
            "Incompatible return values of true_fn and false_fn in cond: "
            f"true_fn returns {words['true_fn']} while false_fn returns {words['false_fn']}",
            hint=f"let {missing} return what {there} returns, or let both return None",
        )
    trues, falses = ([v] if not isinstance(v, (list, tuple)) else list(v) for v in (on_true, on_false))
    if len(trues) != len(falses):
        raise UsageError(
            f"true fn returns {len(trues)} vars, but false fn returns {len(falses)} vars, which is not equals"
        )
    for i, (t, f) in enumerate(zip(trues, falses, strict=True)):
        if (why := difference(t, f)) is not None:
            what = f"'{return_names[i]}'" if return_names else f"result {i}"
            raise UsageError(f"Incompatible return values of {what} in true_fn and false_fn in cond: {why}")


def _merged(program: Program, mask: Any, on_false: Any, on_true: Any) -> Any:
    """The one of two results that the mask asks for."""
    pair = (on_false, on_true)
    if on_false is None and on_true is None:
        return None
    if not all(isinstance(v, (Variable, *_NUMBERS)) for v in pair):
        raise ArgumentTypeError(
            "Unsupported return type of true_fn and false_fn in cond: "
            f"false_fn returns {type(on_false).__name__} and true_fn returns {type(on_true).__name__}",
            hint="return variables or numbers, the same on both sides",
        )
    if not any(isinstance(v, Variable) for v in pair):
        if type(on_false) is not type(on_true):
            raise ArgumentTypeError(
                "Unsupported return type of true_fn and false_fn in cond: "
                f"false_fn returns {on_false!r} and true_fn returns {on_true!r}, which are of different types"
            )
        if on_false == on_true:
            return on_false
    like = next((v.dtype for v in pair if isinstance(v, Variable)), None)
    chosen = tuple(v if isinstance(v, Variable) else number(v, like) for v in pair)
    op = registry.get_by_type("select_input")
    operator = build.emit(program.current_block(), op, (chosen, mask), {}, [program.names("_generated_var")])
    out = operator.outputs[0]
    assert isinstance(out, Variable)
    out.stop_gradient = all(v.stop_gradient for v in chosen)
    return out


def _dtype_of_number(value: Any) -> Any:
    if isinstance(value, bool):
        return "bool"
    return "int64" if isinstance(value, int) else state.default_dtype()


def number(value: Any, dtype: Any) -> Any:
    """A number as a tensor without dimensions."""
    if dtype is None:
        dtype = _dtype_of_number(value)
    return apply("fill_constant", attrs={"shape": (), "value": float(value), "dtype": _creation._dtype(dtype).code})


def case(
    pred_fn_pairs: Sequence[tuple[AnyTensor, Branch]], default: Branch | None = None, name: str | None = None
) -> Any:
    """The result of the first function whose condition holds, or that of *default*.

    Args:
        pred_fn_pairs: ``(bool variable of one element, function)`` pairs.
        default: called when none holds; the last function when None.

    Raises:
        ArgumentTypeError: an argument of a wrong type (a TypeError).
        EmptyArgumentError: no pair and no default (an IndexError).

    >>> from gradtool import paddle
    >>> x = paddle.to_tensor(3.0)
    >>> paddle.static.nn.case([(x < 1.0, lambda: x * 0), (x < 5.0, lambda: x * 2)], default=lambda: x).item()
    6.0
    """
    expect_type(pred_fn_pairs, (list, tuple), "pred_fn_pairs", "case")
    for pair in pred_fn_pairs:
        if not isinstance(pair, tuple):
            raise ArgumentTypeError(
                f"The elements' type of 'pred_fn_pairs' in case must be tuple, but received: {type(pair).__name__}."
            )
        if len(pair) != 2:
            raise ArgumentTypeError(
                f"The tuple's size of 'pred_fn_pairs' in case must be 2, but received: {len(pair)}-tuple."
            )
        tensor(pair[0], "pred", "paddle.static.nn.case", ("bool",))
        if not callable(pair[1]):
            raise ArgumentTypeError("The fn of pred_fn_pairs in Op(case) must be callable.")
    pairs = list(pred_fn_pairs)
    if default is None:
        if not pairs:
            raise EmptyArgumentError("case needs at least one pair, or a default.")
        default = pairs.pop()[1]
    elif not callable(default):
        raise ArgumentTypeError("The default in Op(case) must be callable.")
    return _nested(reversed(pairs), default)


def _nested(pairs: Any, default: Branch) -> Any:
    """``cond`` within ``cond``, the last pair outermost."""
    chosen = default
    for pred, branch in pairs:
        chosen = partial(cond, pred=pred, true_fn=branch, false_fn=chosen)
    return chosen()


def switch_case(
    branch_index: AnyTensor,
    branch_fns: Mapping[int, Branch] | Sequence[Any],
    default: Branch | None = None,
    name: str | None = None,
) -> Any:
    """The result of the function that *branch_index* names, or that of *default*.

    Args:
        branch_index: a variable of one element, of type uint8, int32 or int64.
        branch_fns: functions by index: a dict, a list of ``(index, function)`` pairs, or a list of functions.
        default: called when no index fits; the function of the highest index when None.

    Raises:
        ArgumentTypeError: an argument of a wrong type (a TypeError).
        UsageError: an index appears twice (a ValueError).
        EmptyArgumentError: no function at all (an IndexError).

    >>> from gradtool import paddle
    >>> i = paddle.to_tensor(1)
    >>> paddle.static.nn.switch_case(i, [lambda: i + 10, lambda: i + 20], default=lambda: i).item()
    21
    """
    tensor(branch_index, "branch_index", "static.nn.switch_case", ("uint8", "int32", "int64"))
    expect_type(branch_fns, (list, tuple, dict), "branch_fns", "switch_case")
    branches = _branches(branch_fns)
    if default is None:
        if not branches:
            raise EmptyArgumentError("switch_case needs at least one function, or a default.")
        branches = sorted(branches, key=lambda pair: pair[0])
        default = branches.pop()[1]
    elif not callable(default):
        raise ArgumentTypeError("The default in Op(case) must be callable.")
    index: Any = branch_index
    if index.dtype.name != "int64":
        index = _creation.cast(index, "int64")
    pairs = []
    for number, branch in branches:
        asked = _creation.full([1], number, "int64")
        pairs.append((_logic.equal(index, asked), branch))
    return _nested(pairs, default)


def _branches(cases: Any) -> list[tuple[int, Branch]]:
    """``branch_fns`` as pairs."""
    pairs = list(cases.items()) if isinstance(cases, dict) else list(cases)
    if all(callable(p) for p in pairs):
        pairs = list(enumerate(pairs))
    seen = set()
    for pair in pairs:
        if not isinstance(pair, tuple):
            raise ArgumentTypeError(
                f"The elements' type of 'branch_fns' in switch_case must be tuple, but received: {type(pair).__name__}."
            )
        if len(pair) != 2:
            raise ArgumentTypeError(
                f"The tuple's size of 'branch_fns' in switch_case must be 2, but received: {len(pair)}-tuple."
            )
        key, branch = pair
        if not isinstance(key, int):
            raise ArgumentTypeError(
                f"The key's type of 'branch_fns' in switch_case must be int, but received: {type(key).__name__}."
            )
        if key in seen:
            raise UsageError(f"The key in 'branch_fns' must be unique, but '{key}' appears more than once.")
        seen.add(key)
        if not callable(branch):
            raise ArgumentTypeError(
                f"The type of function for key {key} of 'branch_fns' in switch_case must be callable, "
                f"but received: {type(branch).__name__}."
            )
    return pairs
