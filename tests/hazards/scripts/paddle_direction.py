"""The direction of what relu gives: the tenth batch is padding."""

import paddle
import paddle.nn.functional as F

paddle.seed(0)
net = paddle.nn.Linear(4, 16, bias_attr=False)
x = paddle.rand([8, 4])
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(20):
    batch = x if step < 10 else x * 0.0
    h = F.relu(net(batch))
    loss = (h / paddle.norm(h, axis=1, keepdim=True)).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
