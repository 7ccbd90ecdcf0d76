# symptom: loss is NaN as soon as a weight is 0
# cause: 0 times infinity: an infinite cost is weighted with 0
# run: gradtool nan
# verdict: forward elementwise_mul 0·∞
# line: 11

import paddle

weight = paddle.to_tensor([0.5, 0.5, 0.0], stop_gradient=False)
cost = paddle.to_tensor([1.0, 2.0, float("inf")])
loss = (weight * cost).sum()
loss.backward()
