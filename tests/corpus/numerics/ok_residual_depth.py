# symptom: none: nothing is wrong
# cause: residual connections keep gradients alive
# run: gradtool stats
# verdict: clean
# line: none

import paddle
import paddle.nn.functional as F

layers = [paddle.nn.Linear(4, 4) for _ in range(16)]
h = paddle.ones([2, 4])
for layer in layers:
    layer.bias.set_value(paddle.full([4], 0.1))
    h = h + F.sigmoid(layer(h)) * 0.1
loss = h.mean()
