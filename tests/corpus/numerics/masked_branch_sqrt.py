# symptom: loss is right, gradient NaN where the input is 0
# cause: sqrt at 0 behind a where: 0 times infinity
# run: gradtool nan
# verdict: backward sqrt_grad dout = 0
# line: 11

import paddle

net = paddle.nn.Linear(2, 3)
h = paddle.nn.functional.relu(net(paddle.to_tensor([[1.0, -1.0], [-2.0, 0.5]])) - 5.0)
root = paddle.sqrt(h)
loss = paddle.where(h > 0, root, h).mean()
loss.backward()
