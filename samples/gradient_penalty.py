"""Gradients of gradients: a critic that is penalised for being steep.

Train it (a second)::

    python samples/gradient_penalty.py

See its backward part::

    gradtool backward samples/gradient_penalty.py --run

A critic gives a high score to points of one cloud and a low score to points of another. How steeply its score changes
with the point is a gradient, and between the clouds the length of that gradient is pulled towards 1 (the gradient
penalty of Wasserstein GANs, Gulrajani et al. 2017). So the loss contains a gradient, and training needs the gradient
of it: `gradients` writes the first order into the program as ordinary operators, and `append_backward` differentiates
those (`tanh_grad` gets its `tanh_grad_grad`).
"""

import numpy as np

import gradtool

gradtool.as_paddle()  # from here on `import paddle` finds gradtool

import paddle  # noqa: E402

paddle.enable_static()


def clouds(count, seed):
    """Points of the two clouds, and points between them, [count, 2] each."""
    rng = np.random.default_rng(seed)
    high = rng.normal([1.0, 0.5], 0.4, (count, 2))
    low = rng.normal([-1.0, -0.5], 0.4, (count, 2))
    between = low + rng.uniform(size=(count, 1)) * (high - low)
    return {n: v.astype("float32") for n, v in {"high": high, "low": low, "between": between}.items()}


def critic(points):
    """One score for each point. The names make all calls share their parameters."""
    h = paddle.static.nn.fc(points, 16, activation="tanh", weight_attr="hidden.w", bias_attr="hidden.b")
    return paddle.static.nn.fc(h, 1, weight_attr="score.w", bias_attr=False)


def network():
    """The whole loss, and the penalty in it."""
    high = paddle.static.data("high", [None, 2], "float32")
    low = paddle.static.data("low", [None, 2], "float32")
    between = paddle.static.data("between", [None, 2], "float32")
    between.stop_gradient = False  # data is constant unless one asks for its gradient

    (steepness,) = paddle.static.gradients(critic(between), between)  # [N, 2]: the first order
    length = paddle.sqrt(paddle.sum(steepness * steepness, axis=1))
    penalty = paddle.mean((length - 1.0) * (length - 1.0))
    return paddle.mean(critic(low)) - paddle.mean(critic(high)) + 10.0 * penalty, penalty


def build():
    """What the command line asks for: the loss, and something to feed."""
    loss, _ = network()
    return loss, clouds(8, seed=0)


def train(steps=200, rate=0.02):
    """Gradient descent; returns the loss and the penalty of every step."""
    paddle.seed(1)
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        loss, penalty = network()
        pairs = paddle.static.append_backward(loss)  # the second order

    place = paddle.CPUPlace()
    exe = paddle.static.Executor(place)
    exe.run(startup)
    values = {p.name: paddle.static.global_scope().find_var(p.name).get_tensor() for p, _ in pairs}

    history = []
    for step in range(steps):
        fetches = [loss, penalty, *(g for _, g in pairs)]
        found, steep, *grads = exe.run(main, feed=clouds(64, seed=step), fetch_list=fetches)
        for (p, _), gradient in zip(pairs, grads, strict=True):
            values[p.name].set(np.array(values[p.name]) - rate * gradient, place)
        history.append((float(found), float(steep)))
        if step % 40 == 0 or step == steps - 1:
            print(f"step {step:3}   loss {history[-1][0]:8.4f}   penalty {history[-1][1]:.4f}")
    return history


if __name__ == "__main__":
    train()
