"""The root of a variance as a difference of two means: the tenth batch is padding."""

import paddle

paddle.seed(0)
net = paddle.nn.Linear(4, 3, bias_attr=False)
x = paddle.rand([8, 4])
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(20):
    batch = x if step < 10 else x * 0.0
    h = net(batch)
    loss = paddle.sqrt(paddle.mean(h**2) - paddle.mean(h) ** 2)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
