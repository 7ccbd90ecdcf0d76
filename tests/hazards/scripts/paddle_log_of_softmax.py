"""The logarithm of a softmax: a probability becomes 0."""

import paddle
import paddle.nn.functional as F

paddle.seed(0)
net = paddle.nn.Linear(4, 3)
x = paddle.rand([8, 4])
optimizer = paddle.optimizer.SGD(20.0, parameters=net.parameters())
for _ in range(40):
    p = F.softmax(net(x), axis=1)
    loss = (paddle.log(p[:, 0])).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
