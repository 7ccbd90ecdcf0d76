"""One of two experts is detached, and never trained.

Try  gradtool why missing_gradient.py
Says DETACHED
"""

import paddle
from paddle import nn


class Experts(nn.Layer):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(8, 4)
        self.right = nn.Linear(8, 4)
        self.head = nn.Linear(4, 1)

    def forward(self, x):
        left, right = paddle.tanh(self.left(x)), paddle.tanh(self.right(x)).detach()
        return self.head(left + right)


model = Experts()
optimizer = paddle.optimizer.Adam(0.01, parameters=model.parameters())
for _ in range(3):
    x = paddle.randn([16, 8])
    loss = (model(x) - x.sum(axis=-1, keepdim=True)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
