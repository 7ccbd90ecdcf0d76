# symptom: sqrt gives NaN now and then
# cause: E[x²] - E[x]² is negative by rounding
# run: gradtool nan
# verdict: forward sqrt negative
# line: 11

import paddle

x = paddle.to_tensor([3000.1, 3000.1, 3000.1, 3000.2], stop_gradient=False)
variance = paddle.mean(x * x) - paddle.mean(x) ** 2 - 2.0
loss = paddle.sqrt(variance)
