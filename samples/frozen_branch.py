"""A model in which most parameters get no gradient, each for another reason.

    gradtool backward samples/frozen_branch.py --no-grad head.b_0

shows every reason in one table. Paddle returns the list of those that do get a gradient and is silent about the others.
"""

import numpy as np

import gradtool

gradtool.as_paddle()  # from here on `import paddle` finds gradtool

import paddle  # noqa: E402
import paddle.nn.functional as F  # noqa: E402
from paddle.static.nn import fc  # noqa: E402

paddle.enable_static()


def build():
    """The loss, and something to feed."""
    x = paddle.static.data("x", [None, 6], "float32")
    y = paddle.static.data("y", [None, 1], "float32")

    # Frozen on purpose: a backbone that was trained elsewhere.
    fixed = paddle.ParamAttr(trainable=False)
    backbone = F.relu(fc(x, 8, weight_attr=fixed, bias_attr=fixed, name="backbone"))

    # Trained: these get their gradients.
    body = F.relu(fc(backbone, 8, name="body"))

    # Cut by detach(): what comes out is a constant.
    teacher = fc(x, 8, name="teacher").detach()

    # Cut by hand: a variable whose stop_gradient was set.
    guide = fc(x, 8, name="guide")
    guide.stop_gradient = True

    # Cut by an operator that has no gradient: a comparison.
    gate = paddle.cast(fc(x, 8, name="gate") > 0.0, "float32")

    # Computed, but the loss does not depend on it.
    fc(body, 1, name="monitor")

    # Never used.
    paddle.static.create_parameter([8, 8], "float32", name="spare")

    predicted = fc(body * gate + teacher + guide, 1, name="head")
    loss = paddle.mean(F.square_error_cost(predicted, y))

    rng = np.random.default_rng(0)
    feed = {"x": rng.normal(size=(4, 6)).astype("float32"), "y": rng.normal(size=(4, 1)).astype("float32")}
    return loss, feed


if __name__ == "__main__":
    loss, _ = build()
    print("with a gradient:")
    for parameter, gradient in paddle.static.append_backward(loss, no_grad_set={"head.b_0"}):
        print(f"  {parameter.name:8} {gradient.name}")
