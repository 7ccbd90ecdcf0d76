# symptom: loss is NaN although the bad rows are masked
# cause: log(0) = -inf, and 0 times -inf is NaN
# run: gradtool nan
# verdict: forward log log(0)
# line: 11

import paddle

w = paddle.to_tensor([0.5, 0.25, 0.0, 0.0], stop_gradient=False)
mask = paddle.to_tensor([1.0, 1.0, 0.0, 0.0])
entropy = w * paddle.log(w)
loss = -(entropy * mask).sum()
loss.backward()
