"""A network that Paddle runs as one operator, and that a recorder sees line by line; half of it is detached."""

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.a = paddle.nn.Linear(4, 8)
        self.b = paddle.nn.Linear(8, 1)

    def forward(self, x):
        h = paddle.nn.functional.relu(self.a(x))
        if h.mean() > 100.0:
            h = h / 2.0
        return self.b(h.detach())


net = paddle.jit.to_static(Net(), full_graph=True)
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
x = paddle.to_tensor(np.linspace(-1, 1, 20, dtype="float32").reshape(5, 4))
for _ in range(2):
    loss = (net(x) ** 2).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
