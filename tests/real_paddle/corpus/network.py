"""A network of many layers: a rule of its own, a hook, writes in place, a list of tensors; nothing is wrong with it."""

import paddle
from paddle import nn

paddle.seed(1)


class Cube(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensor()
        return g * 3 * x * x


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 6)
        self.n = nn.LayerNorm(6)
        self.c = nn.Conv2D(1, 2, 3, padding=1)
        self.b = nn.Linear(12, 3)
        self.e = nn.Embedding(5, 6)
        self.d = nn.Dropout(0.3)
        self.bn = nn.BatchNorm2D(2)

    def forward(self, x, i):
        h = self.n(paddle.tanh(self.a(x))) + self.e(i)
        h = Cube.apply(self.d(h))
        k = self.bn(self.c(h.reshape([-1, 1, 2, 3]))).flatten(1)
        q = paddle.concat([k[:, :6], nn.functional.relu_(k[:, 6:] * 2)], axis=1)
        q.register_hook(lambda g: g * 0.5)
        return self.b(q)


net = Net()
opt = paddle.optimizer.AdamW(0.01, parameters=net.parameters())
for s in range(2):
    x = paddle.randn([5, 4])
    i = paddle.randint(0, 5, [5])
    y = paddle.randint(0, 3, [5])
    o = net(x, i)
    o[0] = 0.0
    loss = nn.functional.cross_entropy(o, y) + 1e-3 * sum((p**2).sum() for p in net.parameters())
    loss.backward()
    if s == 0:
        opt.step()
        opt.clear_grad()
