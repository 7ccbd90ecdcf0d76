# symptom: loss is -inf in a static program
# cause: log(0) of a dead relu
# run: gradtool nan
# verdict: forward log log(0)
# line: 13

import numpy as np
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 3])
hidden = paddle.nn.functional.relu(paddle.static.nn.fc(x, 5) - 10.0)
loss = paddle.mean(paddle.log(hidden))
feed = {"x": np.ones([4, 3], "float32")}
