# symptom   the loss explodes to infinity
# cause     a learning rate of 3 makes every step larger than the last one
# command   nan
# verdict   range of float32
# line      loss = F.mse_loss(net(x), y)
# arguments --lr 3
import argparse

import paddle
import paddle.nn.functional as F
from paddle import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.01)
    args = parser.parse_args()
    paddle.seed(5)
    net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
    opt = paddle.optimizer.SGD(args.lr, parameters=net.parameters())
    x = paddle.randn([32, 4]) * 3
    y = x.sum(axis=1, keepdim=True)
    for step in range(12):
        loss = F.mse_loss(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
