# symptom: loss is inf
# cause: atanh at 1: tanh saturated
# run: gradtool nan
# verdict: forward atanh ±1
# line: 11

import paddle

x = paddle.to_tensor([0.5, 20.0], stop_gradient=False)
y = paddle.tanh(x)
loss = paddle.atanh(y).sum()
