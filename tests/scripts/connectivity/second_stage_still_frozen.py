# symptom   the second stage learns as little as the first
# cause     nothing is unfrozen before the optimizer of the second stage
# command   why
# verdict   stop_gradient
# line      p.stop_gradient = True
# affected  net.body.0.weight net.body.0.bias net.body.2.weight net.body.2.bias
"""Two stages: head first, then everything; the second stage builds its optimizer but nothing is unfrozen."""
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 6), nn.ReLU())
        self.head = nn.Linear(6, 2)

    def forward(self, x):
        return self.head(self.body(x))


def fit(net, opt, steps):
    for _ in range(steps):
        x = paddle.randn([8, 5])
        loss = F.cross_entropy(net(x), (x.sum(1) > 0).astype("int64"))
        loss.backward()
        opt.step()
        opt.clear_grad()
    return loss.item()


def main():
    paddle.seed(0)
    net = Net()
    for p in net.body.parameters():
        p.stop_gradient = True
    opt = paddle.optimizer.Adam(1e-2, parameters=net.head.parameters())
    print("stage 1", fit(net, opt, 4))
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    print("stage 2", fit(net, opt, 4))


if __name__ == "__main__":
    main()
