# symptom: none: nothing is wrong
# cause: a NaN in a metric that training does not use
# run: gradtool nan
# verdict: clean
# line: none

import paddle

net = paddle.nn.Linear(2, 1)
y = net(paddle.ones([4, 2]))
hits = paddle.zeros([3])
seen = paddle.to_tensor([2.0, 0.0, 2.0])
accuracy = hits / seen
loss = paddle.mean(y * y)
loss.backward()
