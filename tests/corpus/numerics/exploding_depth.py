# symptom: loss is inf in a deep network
# cause: each layer multiplies by about 8; beyond 3.4e38 float32 ends
# run: gradtool nan
# verdict: forward matmul_v2 range of float32
# line: 13

import paddle

layers = [paddle.nn.Linear(4, 4) for _ in range(60)]
h = paddle.ones([2, 4])
for layer in layers:
    layer.weight.set_value(paddle.full([4, 4], 2.0))
    h = layer(h)
loss = h.mean()
