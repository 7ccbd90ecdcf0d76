"""A logarithm of summed exponentials: exp overflows."""

import paddle

paddle.seed(0)
net = paddle.nn.Linear(4, 3)
x = paddle.rand([8, 4])
optimizer = paddle.optimizer.SGD(2.0, parameters=net.parameters())
for _ in range(60):
    loss = -paddle.log(paddle.exp(net(x)).sum(axis=1)).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
