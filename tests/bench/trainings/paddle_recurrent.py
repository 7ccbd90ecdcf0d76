"""A character model: embedding, LSTM, linear."""

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(0)


class Characters(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(64, 64)
        self.lstm = nn.LSTM(64, 128, num_layers=2)
        self.head = nn.Linear(128, 64)

    def forward(self, ids):
        return self.head(self.lstm(self.embed(ids))[0])


model = Characters()
optimizer = paddle.optimizer.AdamW(1e-3, parameters=model.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))
text = paddle.randint(0, 64, [40, 32, 65])
for ids in text:
    loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
print(loss.item())
