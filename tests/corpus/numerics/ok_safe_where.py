# symptom: none: nothing is wrong
# cause: the argument is made safe before the log
# run: gradtool nan
# verdict: clean
# line: none

import paddle

x = paddle.to_tensor([0.0, 1.0, 2.0], stop_gradient=False)
positive = x > 0
safe = paddle.where(positive, x, paddle.ones_like(x))
loss = paddle.where(positive, paddle.log(safe), paddle.zeros_like(x)).sum()
loss.backward()
