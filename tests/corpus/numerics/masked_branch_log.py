# symptom: loss is right, gradient NaN where the input is 0
# cause: the branch of where that is not taken runs backward, too: 0/0
# run: gradtool nan
# verdict: backward log_grad dout = 0
# line: 10

import paddle

x = paddle.to_tensor([0.0, 1.0, 2.0], stop_gradient=False)
safe = paddle.where(x > 0, paddle.log(x), paddle.zeros_like(x))
loss = safe.sum()
