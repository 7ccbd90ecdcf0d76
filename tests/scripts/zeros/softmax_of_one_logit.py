# symptom   the classifier says 1.0 for everything and never changes
# cause     softmax over one logit is constant
# command   why
# verdict   softmax over an axis of one element
# line      return F.softmax(self.out(paddle.tanh(self.hidden(x))), axis=-1)
# affected  net.out.weight
import paddle
import paddle.nn.functional as F
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(5, 6)
        self.out = nn.Linear(6, 1)

    def forward(self, x):
        return F.softmax(self.out(paddle.tanh(self.hidden(x))), axis=-1)


def main():
    paddle.seed(3)
    net = Net()
    opt = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
    for _ in range(2):
        x = paddle.randn([10, 5])
        y = (x[:, :1] > 0).astype("float32")
        loss = F.binary_cross_entropy(net(x).clip(1e-6, 1 - 1e-6), y) + F.mse_loss(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
