"""``paddle.autograd.backward``, ``paddle.grad`` and ``Tensor.backward``: arguments checked, then the sweep."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ..core import state, upward
from ..core.errors import DtypeError, GradientError, ModeError, ShapeError, UsageError
from ..core.identity import identity
from . import backward as sweeping
from . import piecewise_linear
from .pass_start import PassRequest
from .tensor import Leaf, Tensor


class GradArgumentError(UsageError, AssertionError):
    """An argument of a gradient function that it does not take (Paddle raises AssertionError)."""


class GradArgumentTypeError(GradArgumentError, TypeError):
    """An argument of a wrong Python type."""


class SeedShapeError(GradArgumentError, ShapeError):
    """The gradient to start from has another shape than its tensor (an AssertionError and a ValueError)."""


class SeedTypeError(GradArgumentError, DtypeError):
    """The gradient to start from is complex and its tensor is real (an AssertionError and a TypeError)."""


class DuplicateError(UsageError, RuntimeError):
    """The same tensor twice among the inputs or outputs of ``grad`` (Paddle raises RuntimeError)."""


class UnusedInputError(GradientError, ValueError):
    """An input of ``grad`` on which the outputs do not depend (Paddle raises ValueError)."""

    code = "GT-E209"
    in_paddle = "(InvalidArgument) Please check the input tensor or set allow_unused=True to get None result."


class NoGraphWarning(UserWarning):
    """Backward was asked of tensors that no recorded operator made, so nothing happened."""


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool = False,
    *,
    dump_backward_graph_path: str | None = None,
) -> None:
    """Compute the gradients of *tensors* and add them to the ``.grad`` of the leaves they were computed from.

    Args:
        tensors: where to start: a Tensor, or a list or tuple of different ones. One with ``stop_gradient`` is passed
            over.
        grad_tensors: the gradient to start with at each, of the same shape; None stands for ones.
        retain_graph: keep what operators retained, so that another backward can follow.
        dump_backward_graph_path: a folder for the graph of this pass: both graphs for Graphviz, the user's line of
            every operator, and a manifest, written before anything is computed; see :mod:`gradtool.viz.dump`.

    Raises:
        GradArgumentError: an argument does not fit (an AssertionError; for a wrong shape or type also a ValueError or
            TypeError).
        FreedGraphError: an earlier backward freed what this one needs (a SystemError and RuntimeError).
        InplaceError: a value that is needed was overwritten in place (a RuntimeError).

    >>> from gradtool import paddle
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> paddle.autograd.backward((x * x).sum())
    >>> x.grad.tolist()
    [2.0, 4.0]
    """
    where = "paddle.autograd.backward"
    _need_dynamic(where)
    roots = _tensors(tensors, "tensors", where)
    if len({identity(t) for t in roots}) < len(roots):
        raise GradArgumentError(f"{where}: 'tensors' contains duplicate paddle.Tensor object.")
    seeds = _seeds(grad_tensors, roots, "grad_tensors", "tensors", where)
    _flag(retain_graph, "retain_graph", where)
    roots = [t.carrier for t in roots]
    _dump(dump_backward_graph_path, roots)
    _start(roots, seeds, retain_graph, where, stacklevel=3)


def backward_from(root: Tensor, grad_tensor: Any, retain_graph: Any, dump: Any) -> None:
    """``Tensor.backward``."""
    where = "Tensor.backward"
    _need_dynamic(where)
    if grad_tensor is not None:
        if not isinstance(grad_tensor, Tensor):
            raise GradArgumentTypeError(
                f"{where}: 'grad_tensor' must be a paddle.Tensor, but received {type(grad_tensor).__name__}."
            )
        grad_tensor = root.seed(grad_tensor)
        _check_seed(grad_tensor, root.carrier, "grad_tensor", where)
    _flag(retain_graph, "retain_graph", where)
    root = root.carrier
    _dump(dump, [root])
    _start([root], [grad_tensor], retain_graph, where, stacklevel=4)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Tensor | Sequence[Tensor] | set[Tensor] | None = None,
    *,
    dump_backward_graph_path: str | None = None,
) -> list[Tensor | None]:
    """The gradients of the sum of *outputs* by each of *inputs*; no ``.grad`` is touched.

    Args:
        outputs: a Tensor, or a list or tuple of different ones.
        inputs: the same; leaves or intermediate results.
        grad_outputs: the gradient to start with at each output, of the same shape; None stands for ones.
        retain_graph: False frees what operators retained on the way; by default it is kept, as Paddle does.
        create_graph: record the computation of the gradients, so that they can be differentiated again.
        only_inputs: must be True.
        allow_unused: give None for an input on which the outputs do not depend, instead of an error.
        no_grad_vars: tensors that count as constants in this call.
        dump_backward_graph_path: a folder for the graph of this pass: both graphs for Graphviz, the user's line of
            every operator, and a manifest, written before anything is computed; see :mod:`gradtool.viz.dump`.

    Returns:
        A list, one gradient per input.

    Raises:
        GradArgumentError: an argument does not fit (an AssertionError; for a wrong shape or type also a ValueError or
            TypeError).
        DuplicateError: a tensor occurs twice (a RuntimeError).
        UnusedInputError: the outputs do not depend on an input (a ValueError).

    >>> from gradtool import paddle
    >>> x = paddle.to_tensor(3.0, stop_gradient=False)
    >>> (first,) = paddle.grad(x * x * x, x, create_graph=True)
    >>> (second,) = paddle.grad(first, x)
    >>> first.item(), second.item()
    (27.0, 18.0)
    """
    # the arguments
    where = "paddle.grad"
    _need_dynamic(where)
    roots = _tensors(outputs, "outputs", where)
    asked = _tensors(inputs, "inputs", where)
    seeds = _seeds(grad_outputs, roots, "grad_outputs", "outputs", where)
    if retain_graph is not None:
        _flag(retain_graph, "retain_graph", where)
    _flag(create_graph, "create_graph", where)
    _flag(only_inputs, "only_inputs", where)
    _flag(allow_unused, "allow_unused", where)
    if not only_inputs:
        raise GradArgumentError(f"{where}: only_inputs=False is not supported.", hint="use paddle.autograd.backward")
    constants: list[Tensor] = []
    if no_grad_vars is not None:
        listed = list(no_grad_vars) if isinstance(no_grad_vars, (set, frozenset)) else no_grad_vars
        constants = _tensors(listed, "no_grad_vars", where) if not _empty(listed) else []
    for name, several in (("outputs", roots), ("inputs", asked)):
        if len({identity(t) for t in several}) < len(several):
            raise DuplicateError(f"{where}: the same tensor occurs twice in '{name}'.")
    # the sweep
    roots, constants = [t.carrier for t in roots], [t.carrier for t in constants]
    _dump(dump_backward_graph_path, roots)
    gradients = sweeping.grad(
        roots,
        [t.carrier for t in asked],
        seeds,
        retain_graph=retain_graph is not False or create_graph,
        create_graph=create_graph,
        constants=constants,
    )
    unused = [i for i, gradient in enumerate(gradients) if gradient is None]
    if unused and not allow_unused:
        i = unused[0]
        bend = None if asked[i]._stop else piecewise_linear.find(roots, asked[i].carrier.tape_place())
        raise UnusedInputError(
            f"{where}: input {i} ('{asked[i].name}') does not appear in the backward graph of the outputs: "
            f"{bend or _why_unused(asked[i], roots)}.",
            hint="set allow_unused=True to get None for it" if bend is None else f"{_SMOOTH}; or allow_unused=True",
        )
    return [None if g is None else t.carried(g) for t, g in zip(asked, gradients, strict=True)]


def _start(
    roots: Sequence[Tensor], seeds: Sequence[Tensor | None], retain_graph: bool, where: str, stacklevel: int
) -> None:
    state.passes.note(roots, "backward", False, PassRequest(seeds, None, retain_graph))
    if all(t.stop_gradient for t in roots):
        state.passed.note()
        warnings.warn(f"{where} did nothing: {_why_no_graph(roots)}.", NoGraphWarning, stacklevel=stacklevel)
        return
    sweeping.backward(roots, seeds, retain_graph=retain_graph)


_SMOOTH = "use a function with a second derivative there: tanh, silu, softplus, gelu"


def _why_no_graph(roots: Sequence[Tensor]) -> str:
    what = "the tensor has" if len(roots) == 1 else "all tensors have"
    return (
        f"{what} stop_gradient=True; to_tensor makes such tensors, and so does every operator under no_grad, after "
        "detach(), or when all its inputs have stop_gradient=True"
    )


def _why_unused(tensor: Tensor, roots: Sequence[Tensor]) -> str:
    if all(t.stop_gradient for t in roots):
        return _why_no_graph(roots).replace("the tensor has", "the output has").replace("all tensors", "all outputs")
    if tensor._stop:
        return "it has stop_gradient=True"
    if isinstance(tensor.tape_place(), Leaf):
        return "the outputs were not computed from it, or only through detach(), no_grad or no_grad_vars"
    return "the outputs were not computed from this result"


def _need_dynamic(where: str) -> None:
    if state.in_static_mode():
        raise ModeError(
            f"{where} works on tensors of dynamic mode, and static mode is on.",
            hint="use paddle.static.append_backward or paddle.static.gradients, or call paddle.disable_static()",
        )


def _empty(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and not value


def _tensors(value: Any, name: str, where: str) -> list[Tensor]:
    """*value* as a list of tensors."""
    if isinstance(value, Tensor):
        return [value]
    if value is None:
        raise GradArgumentError(f"{where}: '{name}' should not be None.")
    if not isinstance(value, (list, tuple)):
        raise GradArgumentTypeError(
            f"{where}: '{name}' must be Tensor or list of Tensor, but received {type(value).__name__}."
        )
    if not value:
        raise GradArgumentError(f"{where}: '{name}' cannot be empty.")
    for v in value:
        if not isinstance(v, Tensor):
            raise GradArgumentTypeError(
                f"{where}: Elements of '{name}' must be paddle.Tensor, but received {type(v).__name__}."
            )
    return list(value)


def _seeds(value: Any, roots: Sequence[Tensor], name: str, of: str, where: str) -> list[Tensor | None]:
    """One gradient to start with per root."""
    if value is None or _empty(value):
        return [None] * len(roots)
    seeds = [value] if isinstance(value, Tensor) else value
    if not isinstance(seeds, (list, tuple)):
        raise GradArgumentTypeError(
            f"{where}: The argument '{name}' is invalid: it must be None, a Tensor or a list of them, but is "
            f"{type(value).__name__}."
        )
    for v in seeds:
        if v is not None and not isinstance(v, Tensor):
            raise GradArgumentTypeError(
                f"{where}: The argument '{name}' is invalid: an element must be None or a Tensor, but is "
                f"{type(v).__name__}."
            )
    if len(seeds) != len(roots):
        raise GradArgumentError(
            f"{where}: The length of '{name}' must be equal to that of '{of}', but they are {len(seeds)} and "
            f"{len(roots)}."
        )
    seeds = [None if seed is None else root.seed(seed) for seed, root in zip(seeds, roots, strict=True)]
    for seed, root in zip(seeds, roots, strict=True):
        if seed is not None:
            _check_seed(seed, root.carrier, name, where)
    return seeds


def _check_seed(seed: Tensor, root: Tensor, name: str, where: str) -> None:
    if seed.array.shape != root.array.shape:
        raise SeedShapeError(
            f"{where}: Tensor shape not match, Tensor of {name} [{seed.name}] with shape {list(seed.array.shape)} "
            f"mismatch Tensor [{root.name}] with shape {list(root.array.shape)}."
        )
    if seed.array.dtype.kind == "c" and root.array.dtype.kind != "c":
        raise SeedTypeError(
            f"{where}: {name} [{seed.name}] is {seed.dtype.name}, and Tensor [{root.name}] is {root.dtype.name}."
        )


def _flag(value: Any, name: str, where: str) -> None:
    if not isinstance(value, bool):
        raise GradArgumentTypeError(f"{where}: {name} must be True or False, but received {value!r}.")


def _dump(path: Any, roots: Sequence[Tensor]) -> None:
    """Write the graph behind *roots* to the folder *path*, if one was given, before anything is computed."""
    if path is not None:
        upward.part("dumps").dump_tape(roots, path)
