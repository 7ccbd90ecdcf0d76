"""The models of ``python -m tests.bench step`` written by hand with JAX, and gradtool's programs left on its device."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from tests.bench.step_engines import Static, Step
from tests.bench.step_models import Made


class Jax:
    """The same, as one writes them with JAX."""

    matmul, tanh, relu, sigmoid, softmax = jnp.matmul, jnp.tanh, jax.nn.relu, jax.nn.sigmoid, jax.nn.softmax

    @staticmethod
    def gelu(x: Any) -> Any:
        return jax.nn.gelu(x, approximate=False)

    @staticmethod
    def embedding(ids: Any, table: Any) -> Any:
        return table[ids]

    @staticmethod
    def norm(x: Any) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        return centred / jnp.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)

    @staticmethod
    def conv(x: Any, k: Any, stride: int = 1, groups: int = 1) -> Any:
        pads = [(k.shape[-1] // 2,) * 2] * 2
        return jax.lax.conv_general_dilated(x, k, (stride, stride), pads, feature_group_count=groups)

    @staticmethod
    def batch_norm(x: Any, scale: Any, shift: Any) -> Any:
        centred = x - x.mean((0, 2, 3), keepdims=True)
        normal = centred / jnp.sqrt((centred**2).mean((0, 2, 3), keepdims=True) + 1e-5)
        return normal * scale[:, None, None] + shift[:, None, None]

    @staticmethod
    def averaged(x: Any) -> Any:
        return x.mean((2, 3))

    @staticmethod
    def doubled(x: Any) -> Any:
        return x.repeat(2, 2).repeat(2, 3)

    @staticmethod
    def beside(values: list[Any]) -> Any:
        return jnp.concatenate(values, 1)

    @staticmethod
    def pool(x: Any) -> Any:
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")

    @staticmethod
    def shaped(x: Any, *shape: int) -> Any:
        return x.reshape(shape)

    @staticmethod
    def turned(x: Any, *order: int) -> Any:
        return x.transpose(order)

    @staticmethod
    def split(x: Any, parts: int) -> Any:
        return jnp.split(x, parts, -1)

    @staticmethod
    def joined(values: list[Any]) -> Any:
        return jnp.concatenate(values, -1)

    @staticmethod
    def entropy(x: Any, y: Any) -> Any:
        return -jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], 1).mean()

    @staticmethod
    def rounds(turn: Any, state: list[Any], each: Any) -> list[Any]:
        return list(jax.lax.scan(lambda state, x: (tuple(turn(x, *state)), None), tuple(state), each)[0])


def there(paddle: Any, made: Made) -> Step:
    """A step whose data and gradients stay on the device."""
    params, data, loss = made
    run, fetched = Static(paddle).program(params, data, loss, backend="jax")
    fed = jax.device_put(data)

    def step() -> list[Any]:
        return jax.block_until_ready([h.value for h in run(feed=fed, fetch_list=fetched, return_numpy=False)])  # type: ignore[no-any-return]

    return step


def by_hand(made: Made) -> Step:
    """A hand-written step, with parameters and data on the device."""
    params, data, loss = made
    function = jax.jit(jax.value_and_grad(lambda p, d: loss(Jax, p, d)))
    p, d = jax.device_put(params), jax.device_put(data)

    def step() -> list[Any]:
        value, gradients = jax.block_until_ready(function(p, d))
        return [value, *(gradients[k] for k in params)]

    return step
