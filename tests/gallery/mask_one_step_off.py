# about  a causal mask that shows the next step
# code   GT602
# told   matmul
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(0)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(9, 8), nn.Linear(8, 9)
        self.query, self.key, self.value = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, ids, hidden):
        h = self.embed(ids)
        scores = paddle.matmul(self.query(h), self.key(h), transpose_y=True) / 8**0.5
        scores = scores + hidden
        return self.head(paddle.matmul(F.softmax(scores), self.value(h)))


net = Net()
ids = paddle.randint(0, 9, [3, 7])
hidden = paddle.triu(paddle.full([6, 6], -1e9), 2)  # right: hidden = paddle.triu(paddle.full([6, 6], -1e9), 1)
loss = F.cross_entropy(net(ids[:, :-1], hidden), ids[:, 1:])
loss.backward()
