# symptom: inf after the cast
# cause: the cast to float16 overflows
# run: gradtool nan
# verdict: forward cast overflows
# line: 11

import paddle

net = paddle.nn.Linear(2, 2)
h = net(paddle.ones([1, 2])) + 1e5
half = h.cast("float16")
loss = half.cast("float32").mean()
