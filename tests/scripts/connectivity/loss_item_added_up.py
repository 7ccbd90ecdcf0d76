# symptom   the second head gets no gradient
# cause     its loss enters the total as a Python number
# command   why
# verdict   detached
# line      total = F.mse_loss(a, goals[0]) + weight * F.mse_loss(b, goals[1]).item()
# affected  net.second.weight net.second.bias
import paddle
import paddle.nn.functional as F
from paddle import nn


class Two(nn.Layer):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(4, 6)
        self.first, self.second = nn.Linear(6, 1), nn.Linear(6, 1)

    def forward(self, x):
        h = F.relu(self.trunk(x))
        return self.first(h), self.second(h)


def losses(outputs, goals, weight):
    a, b = outputs
    total = F.mse_loss(a, goals[0]) + weight * F.mse_loss(b, goals[1]).item()
    return total


if __name__ == "__main__":
    paddle.seed(6)
    net = Two()
    opt = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
    for _ in range(3):
        x = paddle.randn([8, 4])
        loss = losses(net(x), (x[:, :1], x[:, 1:2]), 0.5)
        loss.backward()
        opt.step()
        opt.clear_grad()
