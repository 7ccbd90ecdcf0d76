"""Programs that were found to differ and are right now: recorded with the slice, and replayed with it."""

FOUND = (
    # A weight of one element makes no dimension of a loss that is a number.
    """# static
x0 = tensor("float32", [], [0.78], grad=True)
x1 = tensor("float32", [], [0.84])
x2 = tensor("float32", [], [1.03], grad=True)
v0 = paddle.nn.functional.binary_cross_entropy_with_logits(x0, x1, reduction='none', pos_weight=x2)
gradients(["v0"], ["x0", "x2"], seeded=False)""",
    """# eager
x0 = tensor("float32", [], [0.78], grad=True)
x1 = tensor("float32", [], [0.84])
x2 = tensor("float32", [1], [1.03])
v0 = paddle.nn.functional.binary_cross_entropy_with_logits(x0, x1, pos_weight=x2)
backward("v0")""",
    # 0 is a half of nothing: its mantissa has no slope.
    """# eager
x0 = tensor("float64", [2], [0.0, 3.0], grad=True)
v0 = paddle.frexp(x0)
backward("v0")""",
    # The gradient of a quantile that is NaN goes to a NaN.
    """# eager
x0 = tensor("float32", [3, 2], [nan, -1e-30, 0.0, inf, 1.0, nan], grad=True)
v0 = paddle.quantile(x0, 0.3, 1)
backward("v0")""",
    """# eager
x0 = tensor("float32", [2, 3], [nan, 2.0, 1.0, 1.0, nan, nan], grad=True)
v0 = paddle.nanquantile(x0, [0.25, 1.0], 1)
backward("v0")""",
    # A power of 0 stays in the graph.
    """# static
x0 = tensor("float32", [1, 1], [2.08], grad=True)
v0 = paddle.linalg.matrix_power(paddle.sin(x0), 0)
gradients(["v0"], ["x0"])""",
    # What is not finite reaches the class of the label alone.
    """# eager
x0 = tensor("float32", [2, 3], [2.0, 3.0, inf, nan, 1.0, 2.0], grad=True)
x1 = tensor("int64", [2], [2, 1])
v0 = paddle.nn.functional.nll_loss(x0, x1)
v1 = paddle.nn.functional.silu(v0)
backward("v1")""",
    # A dimension that is not known may be the right one.
    """# static
x0 = tensor("float32", [1, 1, 2, 2], [1.0, 2.0, 3.0, 4.0], grad=True)
x1 = tensor("float32", [1, 1, 1, 2], [0.25, 0.5], grad=True, unknown=[0, 3])
v0 = paddle.nn.functional.grid_sample(x0, x1)
gradients(["v0"], ["x0", "x1"], seeded=False)""",
    # Names of results.
    """# static
x0 = tensor("float32", [2], [1.0, 2.0], grad=True)
x1 = tensor("float32", [2], [3.0, 1.0], grad=True)
v0 = paddle.fmax(x0, x1)
v1 = paddle.fmin(v0, x1)
v2 = paddle.heaviside(v1, v0)
gradients(["v2"], ["x0", "x1"])""",
    """# static
x0 = tensor("float32", [3, 3], [1.0, 2.0, 0.5, 3.0, 1.0, 2.0, 0.25, 1.0, 4.0], grad=True)
v0 = paddle.diff(x0, axis=0)
v1 = paddle.linalg.vecdot(v0, v0)
gradients(["v1"], ["x0"])""",
    # Where the slope is 0 an infinite gradient makes no NaN.
    """# eager
x0 = tensor("float32", [2], [0.0, 1.5], grad=True)
x1 = tensor("float32", [2], [0.71, -0.76], grad=True)
v0 = x0.copysign(x1)
v1 = v0.pow(-0.5)
backward("v1")""",
    """# eager
x0 = tensor("float32", [2, 2], [0.25, 0.75, 0.5, 0.5], grad=True)
x1 = tensor("int64", [2], [1, 0])
v0 = paddle.nn.functional.cross_entropy(x0, x1, reduction='none', use_softmax=False)
v1 = v0 * paddle.to_tensor([inf, 1.0])
backward("v1")""",
)
