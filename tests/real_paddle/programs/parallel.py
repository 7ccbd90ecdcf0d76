"""A layer that no pass uses, in what processes train together."""

import paddle

paddle.seed(0)


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = paddle.nn.Linear(3, 4)
        self.auxiliary = paddle.nn.Linear(4, 2)
        self.head = paddle.nn.Linear(4, 1)

    def forward(self, x):
        return self.head(paddle.tanh(self.body(x)))


net = paddle.DataParallel(Net())
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for _ in range(2):
    loss = net(paddle.rand([4, 3])).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
