# symptom: loss fine, gradients inf
# cause: the scaled gradient leaves the range of float16
# run: gradtool nan
# verdict: backward elementwise_mul_grad range of float16
# line: 11

import paddle

w = paddle.to_tensor([2.0, 4.0], dtype="float16", stop_gradient=False)
x = paddle.to_tensor([0.01, 8.0], dtype="float16")
y = (w * x).cast("float32")
loss = y.mean() * 32768.0
loss.backward()
