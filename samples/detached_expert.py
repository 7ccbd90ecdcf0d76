"""A network with a mistake in it: one of its two experts is detached, and is never trained."""

import paddle
from paddle import nn


class Experts(nn.Layer):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(8, 2)
        self.left = nn.Linear(8, 4)
        self.right = nn.Linear(8, 4)
        self.head = nn.Linear(4, 1)

    def forward(self, x):
        shares = nn.functional.softmax(self.gate(x))
        left, right = paddle.tanh(self.left(x)), paddle.tanh(self.right(x)).detach()
        return self.head(shares[:, :1] * left + shares[:, 1:] * right)


model = Experts()
optimizer = paddle.optimizer.Adam(0.01, parameters=model.parameters())
for _ in range(3):
    x = paddle.randn([16, 8])
    loss = (model(x) - x.sum(axis=-1, keepdim=True)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
