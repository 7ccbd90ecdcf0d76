# symptom: the first layers jump about
# cause: each layer multiplies the gradient by about 4
# run: gradtool stats
# verdict: exploding layers[0].weight
# line: 9

import paddle

layers = [paddle.nn.Linear(4, 4) for _ in range(10)]
h = paddle.ones([2, 4])
for layer in layers:
    layer.weight.set_value(layer.weight * 6.0)
    h = paddle.sin(layer(h))
loss = h.mean()
