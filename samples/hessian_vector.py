"""How sharp a minimum is: the largest curvature of a loss, by Hessian-vector products.

Run it (a second)::

    python samples/hessian_vector.py

See the program of first and second order::

    gradtool graph --text samples/hessian_vector.py
    gradtool graph --dump graphs samples/hessian_vector.py

The Hessian of a model with n parameters has n² entries, but its product with a vector v is the gradient of
(gradient · v): two backward passes. Power iteration turns such products into the largest eigenvalue and its direction.
Gradient descent with a rate above 2 / eigenvalue cannot stay at the minimum; the sample tries both sides and shows it.
"""

import math

import numpy as np

import gradtool

gradtool.as_paddle()  # from here on `import paddle` finds gradtool

import paddle  # noqa: E402
import paddle.nn.functional as F  # noqa: E402

paddle.enable_static()

POINTS, HIDDEN = 40, 12


def data():
    """A wave with two periods, as columns."""
    x = np.linspace(-1, 1, POINTS, dtype="float32")[:, None]
    return {"x": x, "y": np.sin(2 * np.pi * x)}


def network():
    """The loss of a small network that follows the wave, and its parameters."""
    x = paddle.static.data("x", [POINTS, 1])
    y = paddle.static.data("y", [POINTS, 1])
    start = [
        paddle.ParamAttr(name=f"{name}.w", initializer=paddle.nn.initializer.Normal(0.0, scale))
        for name, scale in (("first", 2.0), ("last", 0.3))
    ]
    hidden = paddle.tanh(paddle.static.nn.fc(x, HIDDEN, weight_attr=start[0], name="first"))
    loss = F.mse_loss(paddle.static.nn.fc(hidden, 1, weight_attr=start[1], name="last"), y)
    return loss, paddle.static.default_main_program().all_parameters()


def slope_along(loss, parameters):
    """The gradient of *loss*, and its product with a vector that is fed as ``<parameter>.v``."""
    slopes = paddle.static.gradients([loss], parameters)
    vector = [paddle.static.data(f"{p.name}.v", p.shape) for p in parameters]
    return slopes, paddle.add_n([(g * v).sum() for g, v in zip(slopes, vector, strict=True)])


def build():
    """What the command line asks for: the slope along a vector, whose own gradient is the Hessian times that vector."""
    loss, parameters = network()
    _, along = slope_along(loss, parameters)
    rng = np.random.default_rng(0)
    return along, {**data(), **{f"{p.name}.v": rng.normal(size=p.shape).astype("float32") for p in parameters}}


class Model:
    """The network with its compiled questions: the loss, its slope, and Hessian-vector products."""

    def __init__(self):
        paddle.seed(3)
        self.main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(self.main, startup):
            self.loss, self.parameters = network()
            self.slopes, along = slope_along(self.loss, self.parameters)
            self.products = paddle.static.gradients([along], self.parameters)
        self.scope = paddle.static.Scope()
        self.exe = paddle.static.Executor()
        self.exe.run(startup, scope=self.scope)
        self.nothing = {f"{p.name}.v": np.zeros(p.shape, "float32") for p in self.parameters}

    def _run(self, feed, fetch):
        return self.exe.run(self.main, feed={**data(), **self.nothing, **feed}, fetch_list=fetch, scope=self.scope)

    def _value(self, p):
        return self.scope.find_var(p.name).get_tensor()

    def loss_now(self):
        return float(self._run({}, [self.loss])[0])

    def descend(self, steps, rate):
        """Gradient descent; returns the last loss."""
        for _ in range(steps):
            for p, slope in zip(self.parameters, self._run({}, self.slopes), strict=True):
                self._value(p).set(np.array(self._value(p)) - rate * slope, None)
        return self.loss_now()

    def curvature(self, rounds=60):
        """The largest eigenvalue of the Hessian here."""
        rng = np.random.default_rng(1)
        vector = [rng.normal(size=p.shape).astype("float32") for p in self.parameters]
        for _ in range(rounds):
            length = math.sqrt(sum(float((v * v).sum()) for v in vector))
            vector = [v / length for v in vector]
            feed = {f"{p.name}.v": v for p, v in zip(self.parameters, vector, strict=True)}
            turned = self._run(feed, self.products)
            value = sum(float((a * b).sum()) for a, b in zip(vector, turned, strict=True))
            vector = turned
        return value


def main():
    model = Model()
    print(f"start             loss {model.loss_now():.4f}   curvature {model.curvature():7.2f}")
    model.descend(3000, 0.05)
    sharpest = model.curvature()
    print(
        f"after 3000 steps  loss {model.loss_now():.4f}   curvature {sharpest:7.2f}   2 / curvature {2 / sharpest:.3f}"
    )
    kept = [np.array(model._value(p)) for p in model.parameters]
    results = {}
    for factor in (0.8, 1.3):
        for p, value in zip(model.parameters, kept, strict=True):
            model._value(p).set(value, None)
        results[factor] = model.descend(60, factor * 2 / sharpest)
        print(f"60 steps at {factor} of that rate: loss {results[factor]:.4f}")
    return sharpest, results


if __name__ == "__main__":
    main()
