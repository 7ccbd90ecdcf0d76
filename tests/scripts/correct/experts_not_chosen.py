# about     experts that the last batch has no row for
"""Mixture of experts, top-1 routing, load balancing; some experts get no token in some steps."""
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Expert(nn.Layer):
    def __init__(self, d):
        super().__init__()
        self.up, self.down = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class MoE(nn.Layer):
    def __init__(self, d, n):
        super().__init__()
        self.gate = nn.Linear(d, n, bias_attr=False)
        self.experts = nn.LayerList([Expert(d) for _ in range(n)])
        self.n = n

    def forward(self, x):
        probs = F.softmax(self.gate(x), axis=-1)
        weight, index = paddle.topk(probs, k=1, axis=-1)
        index = index.squeeze(-1)
        out = paddle.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows = paddle.nonzero(index == i).squeeze(-1)
            if rows.shape[0] == 0:
                continue
            y = expert(paddle.gather(x, rows)) * paddle.gather(weight, rows)
            out = paddle.scatter(out, rows, y, overwrite=False)
        share = F.one_hot(index, self.n).mean(0)
        aux = self.n * (share * probs.mean(0)).sum()
        return out, aux


def main():
    paddle.seed(4)
    moe, head = MoE(6, 4), nn.Linear(6, 2)
    opt = paddle.optimizer.Adam(1e-2, parameters=[*moe.parameters(), *head.parameters()])
    for step in range(10):
        x = paddle.randn([3, 6])
        y = (x.sum(-1) > 0).astype("int64")
        h, aux = moe(x)
        loss = F.cross_entropy(head(x + h), y) + 0.01 * aux
        loss.backward()
        opt.step()
        opt.clear_grad()
    print(loss.item())


if __name__ == "__main__":
    main()
