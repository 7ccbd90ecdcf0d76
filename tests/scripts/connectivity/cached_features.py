# symptom   embeddings learn in the first epoch alone
# cause     what is cached was detached
# command   why
# verdict   detached
# line      self.cache[key] = h.detach()
# affected  net.emb.weight net.proj.weight net.proj.bias
"""A feature cache for speed: after warm-up the features come from the first epoch's cache."""
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Cached(nn.Layer):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(16, 6)
        self.proj = nn.Linear(6, 6)
        self.head = nn.Linear(6, 2)
        self.cache = {}

    def features(self, key, ids):
        if key not in self.cache:
            h = paddle.tanh(self.proj(self.emb(ids).mean(1)))
            self.cache[key] = h.detach()
            return h
        return self.cache[key]

    def forward(self, key, ids):
        return self.head(self.features(key, ids))


def main(epochs=4):
    paddle.seed(0)
    net = Cached()
    opt = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
    data = [(i, paddle.randint(0, 16, [6, 4]), paddle.randint(0, 2, [6])) for i in range(3)]
    for epoch in range(epochs):
        for key, ids, y in data:
            loss = F.cross_entropy(net(key, ids), y)
            loss.backward()
            opt.step()
            opt.clear_grad()
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
