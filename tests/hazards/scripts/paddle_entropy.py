"""The entropy of a softmax that is sharpened with each step."""

import paddle
import paddle.nn.functional as F

paddle.seed(0)
net = paddle.nn.Linear(4, 3)
x = paddle.rand([8, 4])
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(40):
    p = F.softmax(net(x) * 10.0 * step, axis=1)
    loss = -paddle.sum(p * paddle.log(p), axis=1).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
