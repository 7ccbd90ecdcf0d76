"""A static program in which half of the parameters get no gradient, as it is run in a training loop."""

import numpy as np
import paddle

paddle.enable_static()
x = paddle.static.data("x", [None, 4])
h = paddle.static.nn.fc(x, 8, activation="relu")
h.stop_gradient = True
loss = paddle.mean(paddle.static.nn.fc(h, 1) ** 2)
paddle.optimizer.SGD(0.1).minimize(loss)
executor = paddle.static.Executor()
executor.run(paddle.static.default_startup_program())
for step in range(3):
    executor.run(feed={"x": np.full((3, 4), step + 1.0, "float32")}, fetch_list=[loss])
