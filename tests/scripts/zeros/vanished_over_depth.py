# symptom   the first layers of a deep net do not learn
# cause     forty sigmoids, each of which passes at most a quarter on
# command   why
# verdict   vanished
# line      x = F.sigmoid(layer(x))
# affected  net.layers.0.weight
import paddle
import paddle.nn.functional as F
from paddle import nn


class Deep(nn.Layer):
    def __init__(self, depth=60, width=6):
        super().__init__()
        attr = paddle.ParamAttr(initializer=nn.initializer.Normal(0.0, 0.1))
        self.layers = nn.LayerList([nn.Linear(width, width, weight_attr=attr) for _ in range(depth)])
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        for layer in self.layers:
            x = F.sigmoid(layer(x))
        return self.out(x)


def main():
    paddle.seed(5)
    net = Deep()
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    for _ in range(2):
        x = paddle.randn([8, 6])
        loss = F.mse_loss(net(x), x[:, :1])
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
