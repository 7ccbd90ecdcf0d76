# symptom   the first layer has no gradient
# cause     detach in forward; the last variable called loss is a validation loss without a graph
# command   why
# verdict   detached
# line      h = paddle.tanh(self.first(x)).detach()
# affected  net.first
import paddle
import paddle.nn.functional as F
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 5), nn.Linear(5, 1)

    def forward(self, x):
        h = paddle.tanh(self.first(x)).detach()
        return self.second(h)


def main():
    net = Net()
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    x = paddle.randn([16, 3])
    y = x.sum(axis=1, keepdim=True)
    for epoch in range(3):
        loss = F.mse_loss(net(x[:12]), y[:12])
        loss.backward()
        opt.step()
        opt.clear_grad()
        with paddle.no_grad():
            loss = F.mse_loss(net(x[12:]), y[12:])
        print(f"epoch {epoch}: validation {float(loss):.3f}")


if __name__ == "__main__":
    main()
