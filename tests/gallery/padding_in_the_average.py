# about  padding that counts in an average
# code   GT603
# told   reduce_mean
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(0)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(9, 8), nn.Linear(8, 3)

    def forward(self, ids, mask):
        h = self.embed(ids)
        count = mask.sum(axis=1, keepdim=True)
        h = h.mean(axis=1) / count  # right: h = (h * mask.unsqueeze(-1)).sum(axis=1) / count
        return self.head(h)


net = Net()
ids = paddle.to_tensor([[3, 5, 1, 0, 0], [2, 4, 6, 7, 0], [1, 1, 2, 3, 8]])
mask = (ids != 0).astype("float32")
loss = F.cross_entropy(net(ids, mask), paddle.to_tensor([0, 1, 2]))
loss.backward()
