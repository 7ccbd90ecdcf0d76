"""What a model of the zoo computes: the same code under Paddle, which is recorded, and under gradtool.

A model's file has two functions, and what people who train it have besides (``build()``, or a script's ``__main__``):

- ``network()`` is the model, one Layer;
- ``loss(net)`` is the loss of one batch, or a dictionary of losses that are backpropagated one by one.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np

HERE: Final = Path(__file__).parent
MODELS: Final = HERE / "models"
RECORDED: Final = HERE / "recorded"

NAMES: Final = sorted(p.stem for p in MODELS.glob("*.py"))

SINGLE: Final = frozenset({"ghostnet", "mobilenet_v1", "mobilenet_v3", "resnext"})
"""Models that are recorded in float32, as their `nn.BatchNorm` makes its parameters so: the others in float64."""

KEPT: Final = ("_mean", "_variance")
"""Ends of names of running statistics, which stay as they begin."""

SHOWN: Final = 2
"""How many elements of a gradient a record keeps, beside its sum, its norm and a projection."""


def file_of(name: str) -> Path:
    """The file of a model."""
    return MODELS / f"{name}.py"


def loaded(name: str) -> ModuleType:
    """A model's file, executed anew."""
    spec = importlib.util.spec_from_file_location(f"zoo_{name}", file_of(name))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measured(name: str, paddle: Any) -> dict[str, Any]:
    """The losses of a model and, for each, every gradient in a few numbers.

    Args:
        paddle: the module that its file imports under that name.
    """
    single = paddle.get_default_dtype()
    dtype = "float32" if name in SINGLE else "float64"
    paddle.set_default_dtype(dtype)
    try:
        with paddle.utils.unique_name.guard():  # names that count from 0, whatever was made before
            return _measured(loaded(name), dtype)
    finally:
        paddle.set_default_dtype(single)


def _measured(module: ModuleType, dtype: str) -> dict[str, Any]:
    net = module.network()
    parameters = list(net.named_parameters())
    set_weights(parameters)
    losses = module.loss(net)
    if not isinstance(losses, dict):
        losses = {"loss": losses}
    outcome: dict[str, Any] = {"dtype": dtype, "losses": {}, "gradients": {}}
    for i, (label, loss) in enumerate(losses.items()):
        net.clear_gradients()
        loss.backward(retain_graph=i + 1 < len(losses))
        outcome["losses"][label] = float(loss.numpy())
        trained = [(name, p) for name, p in parameters if not p.stop_gradient and not name.endswith(KEPT)]
        outcome["gradients"][label] = {name: _told(p.grad) for name, p in trained}
    return outcome


def set_weights(parameters: list[tuple[str, Any]]) -> None:
    """Give the parameters the weights that a seed gives, one after the other, in the range where nets begin."""
    rng = np.random.default_rng(2026)
    for name, parameter in parameters:
        if name.endswith(KEPT):
            continue
        shape = tuple(parameter.shape)
        values = rng.standard_normal(shape)
        if len(shape) > 1:
            values /= np.sqrt(shape[0] if len(shape) == 2 else np.prod(shape[1:]))
        else:
            values = 0.1 * values + (not name.endswith("bias"))
        parameter.set_value(values.astype(str(parameter.dtype).rpartition(".")[2]))


def _told(gradient: Any) -> list[float] | None:
    """Sum, norm, projection on a direction that the size gives, and the elements in two places that it gives, too."""
    if gradient is None:
        return None
    values = np.asarray(gradient.numpy(), dtype="float64").reshape(-1)
    rng = np.random.default_rng(values.size)
    direction = rng.standard_normal(values.size)
    elements = values[rng.integers(0, values.size, SHOWN)]
    return [float(values.sum()), float(np.linalg.norm(values)), float(values @ direction), *map(float, elements)]
