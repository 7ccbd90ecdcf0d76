# symptom   the actor's gradient is zero
# cause     actions are clipped to [-1, 1], and all of them are beyond
# command   why
# verdict   zero: clipped out of range
# line      return paddle.clip(self.out(h) * self.scale, -1.0, 1.0)
# affected  actor.inner.weight actor.out.weight
import paddle
import paddle.nn.functional as F
from paddle import nn


class Actor(nn.Layer):
    def __init__(self, scale):
        super().__init__()
        self.inner, self.out = nn.Linear(3, 8), nn.Linear(8, 1, bias_attr=False)
        self.scale = scale

    def forward(self, x):
        h = F.softplus(self.inner(x)) + 1.0
        return paddle.clip(self.out(h) * self.scale, -1.0, 1.0)


def main():
    paddle.seed(6)
    actor, critic = Actor(100.0), nn.Linear(1, 1)
    opt = paddle.optimizer.Adam(1e-3, parameters=actor.parameters())
    for _ in range(2):
        value = critic(actor(paddle.rand([10, 3])))
        loss = -value.mean()
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
