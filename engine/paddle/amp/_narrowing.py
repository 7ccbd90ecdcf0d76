"""``paddle.amp.decorate``: networks with narrow parameters, optimizers that keep them in float32 besides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.engine.core.spec import DType, float32
from gradtool.engine.core.spec import dtype as convert
from gradtool.paddle.nn import Layer, LayerNorm
from gradtool.paddle.nn._batch_norm import _BatchNormBase
from gradtool.paddle.nn._norm_layers import _InstanceNormBase
from gradtool.paddle.optimizer import Optimizer

from ...engine.core.identity import identity
from ._casting import NARROW

WIDE = (_BatchNormBase, LayerNorm, _InstanceNormBase)
"""Layers whose parameters stay as they are."""


def decorate(
    models: Any,
    optimizers: Any = None,
    level: str = "O1",
    dtype: str = "float16",
    master_weight: bool | None = None,
    save_dtype: str | None = None,
    master_grad: bool = False,
    excluded_layers: Any = None,
) -> Any:
    """At level O2, the models with parameters of *dtype*; at O1 they stay as they are.

    Args:
        models: one or a list; they are changed, and given back.
        optimizers: one or a list; theirs are the parameters.
        master_weight: whether the optimizers keep every narrow parameter in float32 as well, update that and round;
            True when None.
        save_dtype: the type in which ``state_dict`` gives floating-point numbers.
        master_grad: gradients of narrow parameters come to the optimizers in float32. They do so anyway where there
            are master weights.
        excluded_layers: layers or types of layers whose parameters stay as they are. Those of batch, layer and
            instance norms always do.

    Raises:
        UsageError: an unknown level or dtype (a ValueError).
        ArgumentTypeError: models, optimizers or excluded layers that are none (a TypeError).
    """
    if level not in ("O1", "O2"):
        raise UsageError("level should be O1 or O2, O1 represent AMP train mode, O2 represent Pure fp16 train mode.")
    kind = convert(dtype)
    if kind not in NARROW:
        raise UsageError("dtype only support float16 or bfloat16.")
    networks = _each(models, Layer, "models must be either a single model or a list of models.")
    steppers = _each(
        optimizers, Optimizer, "optimizers must be either a single optimizer or a list of optimizers.", optional=True
    )
    wide = _wide(excluded_layers)
    if save_dtype is not None and save_dtype not in ("float16", "bfloat16", "float32", "float64"):
        raise UsageError(
            f"save_dtype can only be float16 float32 or float64, but your input save_dtype is {save_dtype}."
        )
    if level == "O2":
        for network in networks:
            _narrow(network, kind, wide)
        for stepper in steppers:
            stepper._multi_precision = master_weight is not False
    if save_dtype is not None:
        for network in networks:
            _save_as(network, convert(save_dtype))
    return models if optimizers is None else (models, optimizers)


amp_decorate = decorate


def _each(values: Any, kind: type, message: str, optional: bool = False) -> Sequence[Any]:
    if values is None and optional:
        return []
    result = list(values) if isinstance(values, (list, tuple)) else [values]
    if not all(isinstance(value, kind) for value in result):
        raise ArgumentTypeError(message)
    return result


def _wide(excluded: Any) -> tuple[Any, ...]:
    """Layers and types of layers that stay."""
    entries = () if excluded is None else excluded if isinstance(excluded, (list, tuple)) else (excluded,)
    for entry in entries:
        if not isinstance(entry, Layer) and not (isinstance(entry, type) and issubclass(entry, Layer)):
            raise ArgumentTypeError(
                "excluded_layers must be either a nn.Layer instance/type or a list of nn.Layer instances/types."
            )
    return tuple(entries)


def _narrow(network: Layer, kind: DType, excluded: tuple[Any, ...]) -> None:
    """Give the parameters of float32 that type."""
    types = (*WIDE, *(entry for entry in excluded if isinstance(entry, type)))
    kept = {
        identity(layer)
        for entry in excluded
        if isinstance(entry, Layer)
        for layer in entry.sublayers(include_self=True)
    }
    for layer in network.sublayers(include_self=True):
        if isinstance(layer, types) or identity(layer) in kept:
            continue
        for tensor in _own(layer):
            if tensor.dtype is float32:
                tensor.array = tensor.array.astype(kind.numpy)


def _own(layer: Any) -> Iterator[Any]:
    """The parameters that it holds itself."""
    return (p for p in layer._parameters.values() if p is not None)


def _save_as(network: Layer, kind: DType) -> None:
    def cast(state: Any) -> None:
        for name, value in state.items():
            if value.dtype.is_floating:
                state[name] = value.astype(kind.name)

    network.register_state_dict_hook(cast)
