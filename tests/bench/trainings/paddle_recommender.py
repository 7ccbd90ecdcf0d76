"""Clicks predicted from two sparse features."""

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(0)


class Clicks(nn.Layer):
    def __init__(self):
        super().__init__()
        self.user, self.item = nn.Embedding(1000, 32), nn.Embedding(2000, 32)
        self.deep = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, user, item):
        u, i = self.user(user), self.item(item)
        return self.deep(paddle.concat([u, i], -1)) + (u * i).sum(-1, keepdim=True)


model = Clicks()
optimizer = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
users, items = paddle.randint(0, 1000, [8192]), paddle.randint(0, 2000, [8192])
clicked = paddle.randint(0, 2, [8192, 1]).astype("float32")
for i in range(0, 8192, 256):
    loss = F.binary_cross_entropy_with_logits(model(users[i : i + 256], items[i : i + 256]), clicked[i : i + 256])
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
print(float(loss))
