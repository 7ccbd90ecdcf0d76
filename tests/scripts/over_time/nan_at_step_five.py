# symptom   training is fine and then NaN
# cause     the fifth batch holds a zero whose log is taken
# command   nan
# verdict   log
# step      5
# line      return paddle.log(x)
import paddle
import paddle.nn.functional as F
from paddle import nn


def features(x):
    return paddle.log(x)


def main():
    paddle.seed(0)
    net = nn.Linear(3, 1)
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for step in range(1, 9):
        x = paddle.rand([6, 3]) + 0.1
        if step == 5:
            x[2, 1] = 0.0
        loss = F.mse_loss(net(features(x)), paddle.ones([6, 1]))
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
