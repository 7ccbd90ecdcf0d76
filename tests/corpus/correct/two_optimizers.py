# Two networks, an optimizer for each.
import paddle
from paddle import nn

left, right = nn.Linear(4, 1), nn.Linear(4, 1)
one = paddle.optimizer.SGD(0.1, parameters=left.parameters())
two = paddle.optimizer.Adam(0.1, parameters=right.parameters())
for _ in range(2):
    x = paddle.randn([5, 4])
    loss = (left(x) + right(x) - 1.0).square().mean()
    loss.backward()
    one.step()
    two.step()
    one.clear_grad()
    two.clear_grad()
