"""The logarithm of a sigmoid: the probability becomes 0."""

import paddle
import paddle.nn.functional as F

paddle.seed(0)
net = paddle.nn.Linear(4, 1)
x = paddle.rand([8, 4])
optimizer = paddle.optimizer.SGD(10.0, parameters=net.parameters())
for _ in range(60):
    p = F.sigmoid(net(x))
    loss = paddle.log(p).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
