# symptom: the first layers do not learn
# cause: each sigmoid passes at most a quarter of the gradient
# run: gradtool stats
# verdict: vanishing layers[0].weight
# line: 10

import paddle
import paddle.nn.functional as F

layers = [paddle.nn.Linear(4, 4) for _ in range(16)]
h = paddle.ones([2, 4])
for layer in layers:
    h = F.sigmoid(layer(h))
loss = h.mean()
