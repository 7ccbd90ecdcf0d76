# about     weights are moved for a look and back before the update
"""Sharpness-aware minimisation: two backward passes a step, weights moved there and back."""
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class SAM:
    def __init__(self, model, base, rho=0.05):
        self.model, self.base, self.rho, self.saved = model, base, rho, {}

    @paddle.no_grad()
    def ascend(self):
        params = [p for p in self.model.parameters() if p.grad is not None]
        norm = paddle.sqrt(sum((p.grad**2).sum() for p in params)) + 1e-12
        for p in params:
            self.saved[p.name] = p.clone()
            p.set_value(p + p.grad * (self.rho / norm))
        self.base.clear_grad()

    @paddle.no_grad()
    def descend(self):
        for p in self.model.parameters():
            if p.name in self.saved:
                p.set_value(self.saved[p.name])
        self.base.step()
        self.base.clear_grad()


def main():
    paddle.seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    sam = SAM(net, paddle.optimizer.Momentum(0.05, parameters=net.parameters()))
    for step in range(5):
        x = paddle.randn([8, 4])
        y = (x[:, 0] > 0).astype("int64")
        F.cross_entropy(net(x), y).backward()
        sam.ascend()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        sam.descend()
    print(loss.item())


main()
