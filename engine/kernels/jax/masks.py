"""Writing where a mask holds: how many places that are is not known while compiling, but which value each gets is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from jax import numpy as jnp

from ...ops import registry
from ...ops.opdef import OpDef
from ...ops.refusals import refuse
from ..backend import Kernel, override
from ..choice import backend
from .pullback import gradient_of, register_gradients


def _is_mask(indices: Sequence[Any]) -> bool:
    return len(indices) == 1 and indices[0].dtype == bool


def _put(x: Any, indices: Sequence[Any], value: Any, *, accumulate: bool) -> Any:
    """*x* with *value*, a row for each place or one for all, written or added where the mask holds."""
    (mask,) = indices
    rest = x.shape[mask.ndim :]
    by_place = value.ndim == len(rest) + 1 and value.shape[0] != 1
    if by_place:
        ranks = jnp.cumsum(mask.reshape(-1)) - 1
        count = mask.sum()
        refuse(count != value.shape[0], partial(_mismatch_error, value.shape, rest), count)
        value = value[jnp.clip(ranks, 0, max(value.shape[0] - 1, 0))].reshape((*mask.shape, *value.shape[1:]))
    elif value.ndim > len(rest):
        value = value.reshape(value.shape[1:])
    held = mask.reshape((*mask.shape, *(1,) * len(rest)))
    if accumulate:
        return x + jnp.where(held, value, jnp.zeros((), x.dtype))
    return jnp.where(held, value, x)


def _mismatch_error(shape: tuple[int, ...], rest: tuple[int, ...], count: Any) -> ValueError:
    """Return NumPy's error."""
    value, result = (str(s).replace(" ", "") for s in (shape, (int(count), *rest)))
    return ValueError(
        f"shape mismatch: value array of shape {value} could not be broadcast to indexing result of shape {result}"
    )


@override("index_put", "jax")
def index_put(attrs: Mapping[str, Any], specs: Any) -> Kernel:
    """With a mask as the one index; the definition does the others."""
    accumulate = attrs["accumulate"]

    def kernel(x: Any, indices: Any, value: Any) -> Any:
        if _is_mask(indices) and value.size:
            return _put(x, indices, value, accumulate=accumulate)
        return registry.get_by_type("index_put").kernel(backend("jax"), x, indices, value, accumulate=accumulate)

    return kernel


def _gradients(attrs: Mapping[str, Any], wanted: Any) -> Callable[..., Any]:
    """The kernel of the gradient operator; all gradients where *wanted* does not say which."""
    op = registry.get_by_type("index_put")
    assert op.grad_op is not None
    general = backend("jax").general(op.grad_op, attrs, wanted)
    by_mask = gradient_of(op, lambda *v: [_put(*v, accumulate=attrs["accumulate"])], wanted or [[True], [True]])
    place = op.grad_op.input_index["indices"], op.grad_op.input_index["value"]

    def kernel(*read: Any) -> Any:
        return (by_mask if _is_mask(read[place[0]]) and read[place[1]].size else general)(*read)

    return kernel


def _reads_a_mask(op: OpDef) -> Callable[[Sequence[Any]], bool]:
    place = op.input_index["indices"]
    return lambda read: _is_mask(read[place])


register_gradients("index_put", _gradients, _reads_a_mask)
