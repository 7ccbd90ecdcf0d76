# symptom   backward raises about a version
# cause     an activation that sigmoid keeps for backward is changed in place
# command   why
# exit      4
# verdict   overwritten in place
# line      gate[:, 0] = 1.0
import paddle
from paddle import nn


class Gated(nn.Layer):
    def __init__(self):
        super().__init__()
        self.gate, self.value = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        gate = nn.functional.sigmoid(self.gate(x))
        mixed = gate * self.value(x)
        gate[:, 0] = 1.0
        return mixed + gate


def main():
    net = Gated()
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    for _ in range(2):
        loss = net(paddle.randn([3, 4])).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
