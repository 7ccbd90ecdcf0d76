# about     the best weights in a fresh net, an average of weights, both for evaluation alone
"""Train, save the best, load it into a fresh model for the test; export an EMA model too."""
import copy
import os
import tempfile

import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.bn, self.b = nn.Linear(4, 8), nn.BatchNorm1D(8), nn.Linear(8, 3)

    def forward(self, x):
        return self.b(F.relu(self.bn(self.a(x))))


def evaluate(net, x, y):
    net.eval()
    with paddle.no_grad():
        acc = (net(x).argmax(-1) == y).astype("float32").mean().item()
    net.train()
    return acc


def main():
    paddle.seed(0)
    x = paddle.randn([24, 4])
    y = x[:, :3].argmax(-1)
    net = Net()
    ema = copy.deepcopy(net)
    opt = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
    best, folder = 0.0, tempfile.mkdtemp()
    path = os.path.join(folder, "best.pdparams")
    for epoch in range(4):
        for i in range(0, 24, 8):
            loss = F.cross_entropy(net(x[i : i + 8]), y[i : i + 8])
            loss.backward()
            opt.step()
            opt.clear_grad()
            for e, p in zip(ema.parameters(), net.parameters()):
                e.set_value(0.9 * e.detach() + 0.1 * p.detach())
        acc = evaluate(net, x, y)
        if acc >= best:
            best = acc
            paddle.save(net.state_dict(), path)
    final = Net()
    final.set_state_dict(paddle.load(path))
    print("best", best, "again", evaluate(final, x, y), "ema", evaluate(ema, x, y))
    probs = F.softmax(final(x), axis=-1)
    print(probs.mean().item())


if __name__ == "__main__":
    main()
