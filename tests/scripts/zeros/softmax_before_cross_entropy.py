# symptom   the classifier does not move
# cause     cross_entropy is given chances in place of logits
# command   why
# verdict   the loss takes logits
# line      return F.softmax(self.out(x) * 200.0)
# affected  net.out.weight
import paddle
import paddle.nn.functional as F
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 3)

    def forward(self, x):
        return F.softmax(self.out(x) * 200.0)


def main():
    paddle.seed(0)
    net = Net()
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    for _ in range(3):
        x, y = 10 * paddle.randn([9, 4]), paddle.randint(0, 3, [9])
        loss = F.cross_entropy(net(x), y)
        opt.clear_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    main()
