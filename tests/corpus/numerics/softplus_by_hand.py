# symptom: loss is inf
# cause: exp overflows in log(1 + exp(x))
# run: gradtool nan
# verdict: forward exp overflows
# line: 10

import paddle

x = paddle.to_tensor([1.0, 50.0, 100.0], stop_gradient=False)
loss = paddle.log(1 + paddle.exp(x)).mean()
