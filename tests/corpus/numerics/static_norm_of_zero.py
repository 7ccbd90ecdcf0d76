# symptom: gradients NaN in a static program
# cause: sqrt at 0 in a norm written by hand
# run: gradtool nan
# verdict: backward sqrt_grad out = 0
# line: 15

import numpy as np
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 3])
target = paddle.static.data("target", [4, 3])
w = paddle.static.create_parameter([3], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
gap = x * w - target
loss = paddle.mean(paddle.sqrt(paddle.sum(gap * gap, axis=1)))
feed = {"x": np.ones([4, 3], "float32"), "target": np.ones([4, 3], "float32")}
