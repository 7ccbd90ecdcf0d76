# about     Two generators with one optimizer, two critics with another; identity and cycle losses use both ways.
import itertools

import paddle
import paddle.nn.functional as F
from paddle import nn


def net():
    return nn.Sequential(nn.Linear(3, 8), nn.LeakyReLU(0.2), nn.Linear(8, 3))


def judge():
    return nn.Sequential(nn.Linear(3, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))


def requires(layers, flag):
    for layer in layers:
        for p in layer.parameters():
            p.stop_gradient = not flag


def main():
    paddle.seed(15)
    there, back, judge_a, judge_b = net(), net(), judge(), judge()
    g_opt = paddle.optimizer.Adam(1e-3, parameters=list(itertools.chain(there.parameters(), back.parameters())))
    d_opt = paddle.optimizer.Adam(1e-3, parameters=list(itertools.chain(judge_a.parameters(), judge_b.parameters())))
    for _ in range(3):
        a, b = paddle.randn([10, 3]), paddle.randn([10, 3]) + 1
        requires([judge_a, judge_b], False)
        fake_b, fake_a = there(a), back(b)
        g_loss = F.mse_loss(judge_b(fake_b), paddle.ones([10, 1])) + F.mse_loss(judge_a(fake_a), paddle.ones([10, 1]))
        g_loss = g_loss + 10 * (F.l1_loss(back(fake_b), a) + F.l1_loss(there(fake_a), b))
        g_opt.clear_grad()
        g_loss.backward()
        g_opt.step()
        requires([judge_a, judge_b], True)
        d_loss = F.mse_loss(judge_b(b), paddle.ones([10, 1])) + F.mse_loss(judge_b(fake_b.detach()), paddle.zeros([10, 1]))
        d_loss = d_loss + F.mse_loss(judge_a(a), paddle.ones([10, 1])) + F.mse_loss(judge_a(fake_a.detach()), paddle.zeros([10, 1]))
        d_opt.clear_grad()
        d_loss.backward()
        d_opt.step()


if __name__ == "__main__":
    main()
