# symptom: the second backward is NaN
# cause: the norm of a zero gradient: sqrt at 0
# run: gradtool nan
# verdict: backward sqrt_grad out = 0
# line: 14

import paddle

critic = paddle.nn.Linear(2, 1)
critic.weight.set_value(paddle.zeros([2, 1]))
x = paddle.ones([3, 2])
x.stop_gradient = False
(slope,) = paddle.grad(critic(x).sum(), x, create_graph=True)
size = paddle.sqrt(paddle.sum(slope * slope, axis=1))
loss = paddle.mean((size - 1.0) ** 2)
loss.backward()
