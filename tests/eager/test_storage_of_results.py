"""Which results share memory with their operand, as in Paddle 3.3.1: an edit of one is an edit of the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtool import paddle

SHARE: dict[str, Callable[[Any], Any]] = {
    "reshape": lambda x: paddle.reshape(x, [3, 4]),
    "flatten": lambda x: paddle.flatten(x),
    "squeeze": lambda x: paddle.squeeze(x, 1),
    "unsqueeze": lambda x: paddle.unsqueeze(x, 0),
    "transpose": lambda x: paddle.transpose(x, [2, 1, 0]),
    "slice": lambda x: paddle.slice(x, [0], [0], [2]),
    "an index": lambda x: x[1],
    "strides": lambda x: x[:, :, ::2],
    "unbind": lambda x: paddle.unbind(x)[1],
    "dropout of nothing": lambda x: paddle.nn.functional.dropout(x, 0.0),
    "detach": lambda x: x.detach(),
}
OWN: dict[str, Callable[[Any], Any]] = {
    "cast to the same": lambda x: paddle.cast(x, "float64"),
    "assign": lambda x: paddle.assign(x),
    "clone": lambda x: x.clone(),
    "clip of what fits": lambda x: paddle.clip(x, -100.0, 100.0),
    "scale by 1": lambda x: paddle.scale(x, 1.0),
    "sum over one": lambda x: paddle.sum(x, axis=1),
    "concat of one": lambda x: paddle.concat([x]),
    "stack of one": lambda x: paddle.stack([x]),
    "gather": lambda x: paddle.gather(x, paddle.to_tensor([0, 1])),
    "maximum": lambda x: paddle.maximum(x, x),
    "abs": lambda x: paddle.abs(x),
    "tile by one": lambda x: paddle.tile(x, [1, 1, 1]),
    "roll": lambda x: paddle.roll(x, 1),
}


pytestmark = pytest.mark.usefixtures("dynamic")


def numbers() -> np.ndarray:
    return np.arange(12.0).reshape(4, 1, 3)


@pytest.mark.parametrize("name", [*SHARE, *OWN])
@pytest.mark.parametrize("written", ["result", "operand"])
def test_an_edit_is_seen_where_memory_is_shared(name: str, written: str) -> None:
    x = paddle.to_tensor(numbers())
    y = (SHARE | OWN)[name](x)
    edited, other = (y, x) if written == "result" else (x, y)
    before = other.numpy().copy()
    edited.fill_(-1.0)
    assert np.any(other.numpy() == -1) == (name in SHARE)
    assert np.array_equal(other.numpy(), before) == (name in OWN)
    assert (edited.inplace_version, other.inplace_version) == (1, 1 if name in SHARE else 0)


def test_names_say_what_a_tensor_is() -> None:
    x = paddle.to_tensor(numbers(), stop_gradient=False)
    assert x.name.startswith("generated_tensor_")
    assert (x * x).name.startswith("eager_tmp_")
    assert x.detach().name.startswith("generated_tensor_")


GRADIENTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "passed on to both": lambda x, y, seed: x + y,
    "passed on and used": lambda x, y, seed: (x + y) + x * y,
    "a view": lambda x, y, seed: paddle.reshape(x, [4, 3, 1]).reshape([3, 1, 4]) + y,
    "of a hook that keeps it": lambda x, y, seed: paddle.tanh(x) * y,
    "the seed itself": lambda x, y, seed: x,
}


@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.parametrize("by", ["backward", "grad"])
def test_a_gradient_shares_memory_with_nothing(name: str, by: str) -> None:
    rng = np.random.default_rng(0)
    x, y = (paddle.to_tensor(rng.standard_normal((3, 1, 4)), stop_gradient=False) for _ in range(2))
    seed = paddle.to_tensor(rng.standard_normal((3, 1, 4)))
    kept: list[Any] = []
    if "hook" in name:
        x.register_hook(kept.append)
        y.register_hook(lambda g: kept.append(g) or g)
    out = GRADIENTS[name](x, y, seed)
    if by == "backward":
        out.backward(seed, retain_graph=True)
        gradients = [t.grad for t in (x, y) if t.grad is not None]
    else:
        gradients = [g for g in paddle.grad(out, [x, y], seed, allow_unused=True) if g is not None]
    others = [x.array, y.array, seed.array, out.array, *(g.array for g in kept)]
    others += [
        v if isinstance(v, np.ndarray) else v.array for v in (out.node.kept if out.node else ()) if v is not None
    ]
    for i, gradient in enumerate(gradients):
        for other in (*others, *(g.array for g in gradients[:i])):
            assert not np.shares_memory(gradient.array, other)
        assert gradient.array.flags.writeable


def test_a_gradient_that_nobody_holds_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradtool.engine.eager import leaf_gradients

    copied: list[Any] = []
    array = np.array
    x, w = (paddle.to_tensor(np.ones((4, 4)), stop_gradient=False) for _ in range(2))
    loss = paddle.tanh(paddle.matmul(x, w)).sum()
    monkeypatch.setattr(leaf_gradients.np, "array", lambda a: copied.append(a) or array(a))
    loss.backward()
    assert not copied
    assert x.grad.array.flags.owndata
    assert w.grad.array.flags.owndata
