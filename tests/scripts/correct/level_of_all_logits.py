# about     A number that is added to every logit before a softmax has no say.
import paddle
import paddle.nn.functional as F
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 5)
        self.level = self.create_parameter([1], is_bias=True)

    def forward(self, x):
        return self.fc(x) + self.level


def main():
    paddle.seed(5)
    net = Net()
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for _ in range(3):
        x, y = paddle.randn([16, 4]), paddle.randint(0, 5, [16])
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
