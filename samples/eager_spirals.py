"""Dynamic mode: a small multi-layer perceptron tells the points of two spirals apart.

Train it (a second)::

    python samples/eager_spirals.py

See its backward part::

    gradtool backward samples/eager_spirals.py

The spirals wind around each other, so no straight line parts them; two hidden layers bend space until one does.
"""

import numpy as np

import gradtool

gradtool.as_paddle()  # from here on `import paddle` finds gradtool

import paddle  # noqa: E402
import paddle.nn.functional as F  # noqa: E402
from paddle import nn  # noqa: E402

paddle.disable_static()


def points(count=100, seed=1):
    """Points [2 * count, 2], *count* on either spiral, and the spiral that each is on [2 * count, 1]."""
    rng = np.random.default_rng(seed)
    turn = np.sqrt(rng.uniform(size=(2, count))) * 3 * np.pi
    angle = turn + np.array([[0.0], [np.pi]])
    places = np.stack([np.cos(angle), np.sin(angle)], axis=-1) * turn[..., None] / 10
    places += rng.normal(0.0, 0.02, places.shape)
    return places.reshape(-1, 2).astype("float32"), np.repeat([[0], [1]], count, axis=0)


def network():
    """Two scores for every point."""
    return nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 2))


def loss_of(net, places, spiral):
    return F.cross_entropy(net(places), spiral)


def build():
    """What the command line asks for: a loss, and the layer that it belongs to."""
    net = network()
    places, spiral = points()
    return loss_of(net, paddle.to_tensor(places), paddle.to_tensor(spiral)), net


def train(net=None, steps=300, rate=0.02):
    """Train *net* (a fresh one by default) on all points at once; returns the losses and the accuracy on new points."""
    paddle.seed(1)
    net = net or network()
    descent = paddle.optimizer.Adam(learning_rate=rate, parameters=net.parameters())
    places, spiral = (paddle.to_tensor(v) for v in points())

    history = []
    for step in range(steps):
        loss = loss_of(net, places, spiral)
        loss.backward()
        descent.step()
        descent.clear_grad()
        history.append(float(loss))
        if step % 50 == 0 or step == steps - 1:
            print(f"step {step:3}   loss {history[-1]:.4f}")

    places, spiral = points(seed=2)
    with paddle.no_grad():
        predicted = net(paddle.to_tensor(places)).numpy().argmax(1)
    accuracy = float((predicted == spiral[:, 0]).mean())
    print(f"accuracy on {len(predicted)} points that it has not seen: {accuracy:.1%}")
    return history, accuracy


if __name__ == "__main__":
    train()
