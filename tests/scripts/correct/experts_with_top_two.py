# about     A mixture of experts: the gate picks two of four per sample; all experts are picked by someone in the batch.
import paddle
import paddle.nn.functional as F
from paddle import nn


class Mixture(nn.Layer):
    def __init__(self, size=6, experts=4, k=2):
        super().__init__()
        self.gate = nn.Linear(size, experts)
        self.experts = nn.LayerList([nn.Linear(size, size) for _ in range(experts)])
        self.k = k

    def forward(self, x):
        scores = self.gate(x)
        top, which = paddle.topk(scores, self.k, axis=-1)
        weights = F.softmax(top, axis=-1)
        out = paddle.zeros_like(x)
        for i, expert in enumerate(self.experts):
            share = (weights * (which == i).astype("float32")).sum(axis=-1, keepdim=True)
            out = out + share * expert(x)
        return out


def main():
    paddle.seed(12)
    net = nn.Sequential(Mixture(), nn.Linear(6, 1))
    opt = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
    for _ in range(3):
        x = paddle.randn([32, 6])
        loss = F.mse_loss(net(x), x.max(axis=1, keepdim=True))
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
