"""The critic of gradient_penalty.py in dynamic mode: `paddle.grad(..., create_graph=True)`.

Train it (a second)::

    python samples/eager_gradient_penalty.py

See its backward part::

    gradtool backward samples/eager_gradient_penalty.py

With `create_graph` the backward pass is recorded like any other computation, so the length of a gradient can be part of
the loss and `loss.backward()` differentiates it once more.
"""

import numpy as np

import gradtool

gradtool.as_paddle()  # from here on `import paddle` finds gradtool

import paddle  # noqa: E402
from paddle import nn  # noqa: E402

paddle.disable_static()


def clouds(count, seed):
    """Points of the two clouds, and points between them, [count, 2] each."""
    rng = np.random.default_rng(seed)
    high = rng.normal([1.0, 0.5], 0.4, (count, 2))
    low = rng.normal([-1.0, -0.5], 0.4, (count, 2))
    between = low + rng.uniform(size=(count, 1)) * (high - low)
    return {n: paddle.to_tensor(v.astype("float32")) for n, v in {"high": high, "low": low, "between": between}.items()}


def critic():
    """One score for each point."""
    return nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1, bias_attr=False))


def losses(net, high, low, between):
    """The whole loss, and the penalty in it."""
    between.stop_gradient = False  # data is constant unless one asks for its gradient
    (steepness,) = paddle.grad(net(between), between, create_graph=True)  # [N, 2]: the first order
    length = paddle.sqrt(paddle.sum(steepness * steepness, axis=1))
    penalty = paddle.mean((length - 1.0) * (length - 1.0))
    return paddle.mean(net(low)) - paddle.mean(net(high)) + 10.0 * penalty, penalty


def build():
    """What the command line asks for: a loss, and the layer that it belongs to."""
    net = critic()
    return losses(net, **clouds(8, seed=0))[0], net


def train(net=None, steps=200, rate=0.02):
    """Gradient descent on *net* (a fresh one by default); returns the loss and the penalty of every step."""
    paddle.seed(1)
    net = net or critic()

    history = []
    for step in range(steps):
        loss, penalty = losses(net, **clouds(64, seed=step))
        loss.backward()  # the second order
        for p in net.parameters():
            p.set_value(p.detach() - rate * p.grad)
            p.clear_gradient()
        history.append((float(loss), float(penalty)))
        if step % 40 == 0 or step == steps - 1:
            print(f"step {step:3}   loss {history[-1][0]:8.4f}   penalty {history[-1][1]:.4f}")
    return history


if __name__ == "__main__":
    train()
