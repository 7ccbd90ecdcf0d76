# symptom   values run away
# cause     the bootstrapped target is part of the graph
# command   why
# verdict   not in parameter_list
# line      target = r + gamma * (1 - done) * tgt(s2).max(1, keepdim=True)
# affected  tgt.net.0.weight tgt.net.0.bias tgt.net.2.weight tgt.net.2.bias
"""DQN: the bootstrapped target is part of the graph."""
import copy
import random

import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Q(nn.Layer):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))

    def forward(self, s):
        return self.net(s)


def td_loss(q, tgt, batch, gamma=0.9):
    s, a, r, s2, done = batch
    pred = paddle.take_along_axis(q(s), a, 1)
    target = r + gamma * (1 - done) * tgt(s2).max(1, keepdim=True)
    return F.mse_loss(pred, target)


def main():
    random.seed(0)
    paddle.seed(0)
    q = Q()
    tgt = copy.deepcopy(q)
    opt = paddle.optimizer.Adam(1e-3, parameters=q.parameters())
    for step in range(12):
        batch = (paddle.randn([8, 4]), paddle.randint(0, 2, [8, 1]), paddle.randn([8, 1]), paddle.randn([8, 4]), paddle.zeros([8, 1]))
        loss = td_loss(q, tgt, batch)
        opt.clear_grad()
        loss.backward()
        opt.step()
        if step % 4 == 3:
            tgt.set_state_dict(q.state_dict())
    print(loss.item())


main()
