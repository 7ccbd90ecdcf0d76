# symptom   the weights are NaN after the first step
# cause     the angle of (0, 0)
# command   nan
# verdict   the point (0, 0) has no angle
# line      return paddle.atan2(velocity[:, 1], velocity[:, 0])
# affected  net.weight
import paddle
import paddle.nn.functional as F
from paddle import nn


def heading(velocity):
    return paddle.atan2(velocity[:, 1], velocity[:, 0])


def main():
    paddle.seed(0)
    net = nn.Linear(3, 2)
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    for _ in range(2):
        velocity = F.relu(net(paddle.rand([8, 3])) - 5.0)
        loss = (heading(velocity) ** 2).mean() + velocity.mean()
        opt.clear_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    main()
