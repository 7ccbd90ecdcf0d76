"""The square root of a square: the tenth batch is padding."""

import paddle

paddle.seed(0)
net = paddle.nn.Linear(4, 3, bias_attr=False)
x = paddle.rand([8, 4])
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(20):
    batch = x if step < 10 else x * 0.0
    loss = paddle.sqrt(net(batch) ** 2).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
