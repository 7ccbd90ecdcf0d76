# The goal is detached; the parameters still learn by the other side.
import paddle
from paddle import nn

net = nn.Linear(4, 2)
a, b = paddle.randn([5, 4]), paddle.randn([5, 4])
loss = (net(a) - net(b).detach()).square().mean()
loss.backward()
