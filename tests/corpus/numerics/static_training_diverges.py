# symptom: the loss becomes NaN after some steps
# cause: the learning rate is too large
# run: gradtool nan
# verdict: forward square range of float32
# line: 14

import numpy as np
import paddle

paddle.enable_static()
x = paddle.static.data("x", [8, 1])
y = paddle.static.data("y", [8, 1])
predicted = paddle.static.nn.fc(x, 1)
loss = paddle.mean(paddle.nn.functional.square_error_cost(predicted, y))
paddle.optimizer.SGD(learning_rate=50.0).minimize(loss)
exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
data = {"x": np.linspace(1, 2, 8, dtype="float32")[:, None], "y": np.ones([8, 1], "float32")}
for _ in range(40):
    exe.run(feed=data, fetch_list=[loss])
