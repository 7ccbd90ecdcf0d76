"""``static.Print``, ``static.py_func`` and ``static.nn.control_flow.Assert``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradtool.engine.core import state, user_functions
from gradtool.engine.core.errors import ShapeError, UnsupportedError, UsageError, did_you_mean, expect_type
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.eager.pylayer import PyLayer
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ir import default
from gradtool.engine.ir.holders import append
from gradtool.engine.ir.operator import Operator
from gradtool.engine.ops import registry
from gradtool.engine.ops.library.effects import PHASES, check
from gradtool.paddle._arguments import tensor
from gradtool.paddle._dispatch import apply, write

_PRINTED = ("float16", "bfloat16", "float32", "float64", "int32", "int64", "bool")


def Print(
    input: AnyTensor,
    first_n: int = -1,
    message: str | None = None,
    summarize: int = 20,
    print_tensor_name: bool = True,
    print_tensor_type: bool = True,
    print_tensor_shape: bool = True,
    print_tensor_layout: bool = True,
    print_tensor_lod: bool = True,
    print_phase: str = "both",
) -> AnyTensor:
    """*input*, printed whenever the result is computed, and its gradient when that is.

    Args:
        first_n: print that many times only; always when it is not positive.
        message: printed in front.
        summarize: how many elements to print; all when it is negative.
        print_phase: ``"forward"``, ``"backward"`` (the gradient) or ``"both"``.

    Returns:
        The tensor to go on with: what reads *input* itself passes no gradient through here.

    Raises:
        ArgumentTypeError: *input* is no variable or tensor (a TypeError).
        UsageError: another phase (a ValueError).

    >>> from gradtool import paddle
    >>> x = paddle.static.Print(paddle.to_tensor([1.0, 2.0]), message="x is")
    Variable: tensor
      - message: x is
      - lod: {}
      - place: Place(cpu)
      - shape: [2]
      - layout: NCHW
      - dtype: float32
      - data: [1 2]
    """
    tensor(input, "input", "paddle.static.Print", _PRINTED)
    phase = str(print_phase).upper()
    if phase not in PHASES:
        raise UsageError(
            f"paddle.static.Print: print_phase must be 'forward', 'backward' or 'both', but is {print_phase!r}.",
            hint=did_you_mean(str(print_phase), [p.lower() for p in PHASES]),
        )
    attrs = {
        "first_n": first_n,
        "message": message or "",
        "summarize": summarize,
        "print_tensor_name": print_tensor_name,
        "print_tensor_type": print_tensor_type,
        "print_tensor_shape": print_tensor_shape,
        "print_tensor_layout": print_tensor_layout,
        "print_tensor_lod": print_tensor_lod,
        "print_phase": phase,
        "is_forward": True,
    }
    return apply("print", input, attrs=attrs)  # type: ignore[no-any-return]


def Assert(
    cond: AnyTensor, data: Sequence[AnyTensor] | None = None, summarize: int = 20, name: str | None = None
) -> Operator | None:
    """Stop with an error when *cond* does not hold.

    Args:
        cond: a bool variable of one element.
        data: variables that are printed before the error.
        summarize: how many elements of each are printed; all when it is negative.

    Returns:
        The operator; None in dynamic mode.

    Raises:
        ArgumentTypeError: an argument of a wrong type (a TypeError).
        AssertionFailed: when it is computed and the condition does not hold (a ValueError).

    >>> from gradtool import paddle
    >>> x = paddle.to_tensor([1.0, 2.0])
    >>> paddle.static.nn.control_flow.Assert(paddle.max(x) < 3.0, [x])
    """
    where = "static.nn.control_flow.Assert"
    tensor(cond, "cond", where, ("bool",))
    expect_type(data, (list, tuple, type(None)), "data", where)
    expect_type(summarize, int, "summarize", where)
    expect_type(name, (str, type(None)), "name", where)
    shown = tuple(tensor(v, f"data[{i}]", where) for i, v in enumerate(data or ()))
    if not state.in_static_mode():
        op = registry.get_by_type("assert")
        arrays = [v.numpy() for v in shown]
        check(cond.numpy(), arrays, [v.name for v in shown], op.inputs[0].name, summarize)
        return None
    block = default.current_block()
    return append(block, "assert", {"Cond": cond, "Data": shown}, {"summarize": summarize})


def py_func(
    func: Callable[..., Any],
    x: AnyTensor | Sequence[AnyTensor] | None,
    out: AnyTensor | Sequence[AnyTensor] | None,
    backward_func: Callable[..., Any] | None = None,
    skip_vars_in_backward_input: AnyTensor | Sequence[AnyTensor] | None = None,
) -> Any:
    """Let *func* compute *out* from *x*, whenever the program runs.

    Args:
        func: takes arrays, which it must not change, and returns an array or a list of them.
        x: what it is called with.
        out: the variables that it computes, made before with their shapes and types; None when it only looks.
        backward_func: takes *x*, *out* and the gradients of *out* (None for one that does not arrive) and returns the
            gradients of *x*; without it no gradient passes.
        skip_vars_in_backward_input: those of *x* and *out* that *backward_func* is called without.

    Returns:
        *out*.

    Raises:
        ArgumentTypeError: an argument of a wrong type (a TypeError).
        UsageError: an output without a shape, or a variable to skip that is neither input nor output (a ValueError).

    A program holds only the number of a function: one that was saved and loaded in another process cannot call it.
    """
    variables = (list, tuple, AnyTensor, type(None))
    expect_type(x, variables, "X", "py_func")
    expect_type(out, variables, "Out", "py_func")
    ins, outs = _listed(x), _listed(out)
    if not callable(func):
        user_functions.register(func)
    skipped = _skipped(skip_vars_in_backward_input, (*ins, *outs)) if backward_func is not None else []
    if not state.in_static_mode():
        return _called(func, ins, out, backward_func, skipped)
    for v in outs:
        if not v.shape:
            raise ShapeError(
                "Output shapes of py_func should be provided by users manually",
                variable=v.name,
                hint="make it with create_var(shape=...); [1] for a single number",
            )
    attrs = {
        "forward_callable_id": user_functions.register(func),
        "backward_callable_id": user_functions.register(backward_func) if backward_func is not None else -1,
        "backward_skip_vars": [v.name for v in skipped],
    }
    append(default.current_block(), "py_func", {"X": tuple(ins), "Out": tuple(outs)}, attrs)
    if ins and all(v.stop_gradient for v in ins):
        for v in outs:
            v.stop_gradient = True
    return out


def _skipped(variables: Any, operands: Sequence[Any]) -> list[Any]:
    """The operands that the backward function is called without."""
    skipped = _listed(variables)
    for v in skipped:
        if not any(v is e for e in operands):
            raise UsageError(f"Tensor {v.name} is not found in forward inputs and outputs")
    return skipped


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _called(func: Any, ins: list[Any], out: Any, backward_func: Any, skipped: list[Any]) -> Any:
    """``py_func`` in dynamic mode: the results, in the tensors of *out* where there are some."""
    number = user_functions.register(func)
    back = user_functions.register(backward_func) if backward_func is not None else -1
    places = [i for i, v in enumerate((*ins, *_listed(out))) if not any(v is s for s in skipped)]

    class PyFunc(PyLayer):
        @staticmethod
        def forward(ctx: Any, *tensors: Any) -> Any:
            results = [Tensor(r) for r in user_functions.call(number, [t.numpy() for t in tensors]) if r is not None]
            ctx.save_for_backward(*tensors, *results)
            ctx.set_materialize_grads(False)
            return tuple(results)

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            if back < 0:
                raise UnsupportedError("py_func: there is no backward_func, so no gradient passes.")
            saved = ctx.saved_tensor()
            arrays = [saved[i].numpy() for i in places]
            answers = user_functions.call(back, [*arrays, *(None if g is None else g.numpy() for g in gradients)])
            return tuple(None if g is None else Tensor(g) for g in answers)

    if out is None:
        user_functions.call(number, [v.numpy() for v in ins])
        return None
    results = PyFunc.apply(*ins)
    values = list(results) if isinstance(results, tuple) else [results]
    if back < 0:
        values = [r.detach() for r in values]
    targets = _listed(out)
    written = [write(t, r, "py_func") if isinstance(t, Tensor) else r for t, r in zip(targets, values, strict=True)]
    return written if isinstance(out, (list, tuple)) else written[0]
