"""Operators that do something beside computing: printing, checking, calling the user's own functions."""

from __future__ import annotations

from typing import Any

from ...core import user_functions
from ...core.errors import KernelError
from ..opdef import Late, Trait, op

PHASES = ("FORWARD", "BACKWARD", "BOTH")


def shown(
    value: Any,
    name: str,
    *,
    message: str = "",
    summarize: int = 20,
    print_tensor_name: bool = True,
    print_tensor_type: bool = True,
    print_tensor_shape: bool = True,
    print_tensor_layout: bool = True,
    print_tensor_lod: bool = True,
) -> str:
    """Return what ``Print`` prints of a tensor."""
    lines = [f"Variable: {name}"] if print_tensor_name else []
    if message:
        lines.append(f"  - message: {message}")
    if print_tensor_lod:
        lines.append("  - lod: {}")
    lines.append("  - place: Place(cpu)")
    if print_tensor_shape:
        lines.append(f"  - shape: {list(value.shape)}")
    if print_tensor_layout:
        lines.append("  - layout: NCHW")
    if print_tensor_type:
        lines.append(f"  - dtype: {value.dtype}")
    flat = value.reshape(-1)
    flat = flat if summarize < 0 else flat[:summarize]
    numbers = [str(int(v)) if value.dtype.kind in "biu" else f"{float(v):g}" for v in flat]
    lines.append(f"  - data: [{' '.join(numbers)}]")
    return "\n".join(lines)


@op(
    "print",
    "In -> Out",
    attrs={
        "first_n": -1,
        "message": "",
        "summarize": 20,
        "print_tensor_name": True,
        "print_tensor_type": True,
        "print_tensor_shape": True,
        "print_tensor_layout": True,
        "print_tensor_lod": True,
        "print_phase": "BOTH",
        "is_forward": True,
    },
    trait=Trait.UNARY | Trait.EFFECT,
)
def print_(
    k,
    x,
    *,
    message,
    summarize,
    print_tensor_name,
    print_tensor_type,
    print_tensor_shape,
    print_tensor_layout,
    print_tensor_lod,
    print_phase,
    is_forward,
):
    """*x* itself, printed on the way."""
    if prints(print_phase, is_forward):
        print(
            shown(
                x,
                "tensor" if is_forward else "tensor@GRAD",
                message=message,
                summarize=summarize,
                print_tensor_name=print_tensor_name,
                print_tensor_type=print_tensor_type,
                print_tensor_shape=print_tensor_shape,
                print_tensor_layout=print_tensor_layout,
                print_tensor_lod=print_tensor_lod,
            )
        )
    return x


def prints(phase: str, is_forward: bool) -> bool:
    """Return whether a ``print`` operator of the forward or the backward part prints in that phase."""
    return phase in ("BOTH", "FORWARD" if is_forward else "BACKWARD")


@print_.gradient(expands=True)
def _(
    k,
    dout,
    *,
    first_n,
    message,
    summarize,
    print_tensor_name,
    print_tensor_type,
    print_tensor_shape,
    print_tensor_layout,
    print_tensor_lod,
    print_phase,
):
    return k.print(
        dout,
        first_n=first_n,
        message=message,
        summarize=summarize,
        print_tensor_name=print_tensor_name,
        print_tensor_type=print_tensor_type,
        print_tensor_shape=print_tensor_shape,
        print_tensor_layout=print_tensor_layout,
        print_tensor_lod=print_tensor_lod,
        print_phase=print_phase,
        is_forward=False,
    )


@print_.samples
def _(make):
    yield make(x=(2, 3), print_phase="BACKWARD")
    yield make(x=())
    yield make(x=(0, 3))


class AssertionFailed(KernelError):
    """The condition of an ``Assert`` does not hold (a ValueError, as in Paddle)."""


@op("assert", "Cond Data* -> ", attrs={"summarize": -1}, trait=Trait.EFFECT, differentiable=False)
def assert_(k, cond, data, *, summarize):
    """Nothing, if the condition holds; else an error, after the data were printed."""
    check(cond, data or (), ["tensor"] * len(data or ()), "cond", summarize)
    return ()


def check(cond: Any, data: Any, names: list[str], cond_name: str, summarize: int) -> None:
    """Raise :class:`AssertionFailed` unless *cond*, a tensor of one element, holds."""
    if cond.size != 1:
        raise AssertionFailed(f"the condition of Assert must have one element, but its shape is {list(cond.shape)}")
    if not bool(cond.reshape(())):
        for value, name in zip(data, names, strict=True):
            print(shown(value, name, summarize=summarize))
        raise AssertionFailed(f"The condition variable '{cond_name}' of AssertOp must be true, but received false")


@assert_.infer
def _(cond, data):
    return ()


@op(
    "py_func",
    "X* -> Out*",
    attrs={"forward_callable_id": 0, "backward_callable_id": -1, "backward_skip_vars": ()},
    trait=Trait.EFFECT | Trait.OPAQUE,
)
def py_func(k, x, *, forward_callable_id):
    """Result of a user's function for these tensors."""
    return user_functions.call(forward_callable_id, x or ())


@py_func.gradient(expands=True)
def _(k, x, out, dout: Late, *, backward_callable_id, backward_skip_vars):
    if backward_callable_id < 0:
        return [None] * len(x)
    skipped = set(backward_skip_vars)  # by name where the operands are variables, by place where they are arrays
    operands = [v for i, v in enumerate((*x, *out)) if i not in skipped and getattr(v, "name", None) not in skipped]
    outs = k.py_func([*operands, *dout], forward_callable_id=backward_callable_id)
    return [outs[i] for i in range(len(x))]
