# symptom: loss is inf
# cause: 1/0 in a weight
# run: gradtool nan
# verdict: forward reciprocal 1/0
# line: 11

import paddle

w = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
counts = paddle.to_tensor([4.0, 0.0, 2.0])
weights = paddle.reciprocal(counts)
loss = (w * weights).sum()
