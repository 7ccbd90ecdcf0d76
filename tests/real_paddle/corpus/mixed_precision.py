"""Mixed precision, indices of tensors, numbers beside tensors: calls of several nodes each; nothing is wrong."""

import paddle
from paddle import nn

paddle.seed(0)
a = nn.Linear(4, 8)
b = nn.Linear(8, 3)
opt = paddle.optimizer.SGD(0.1, parameters=[*a.parameters(), *b.parameters()])
for s in range(2):
    x = paddle.randn([5, 4])
    y = paddle.randint(0, 3, [5])
    with paddle.amp.auto_cast(level="O1", dtype="bfloat16"):
        h = nn.functional.relu(a(x))
        o = b(h)
    i = paddle.to_tensor([0, 2, 1])
    loss = (
        nn.functional.cross_entropy(o.astype("float32"), y)
        + (1 / (1 + (o**2).mean()))
        + (h[i, :3] * h[i][:, 1:2]).mean()
        + o.astype("float32")[:, ::2].sum() * 0.1
    )
    loss.backward()
    if s == 0:
        opt.step()
        opt.clear_grad()
