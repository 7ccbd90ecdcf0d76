# symptom  no gradient once predictions leave the range
# cause    clip to [0, 1] of predictions near 100
# command  why
# verdict  zero: clipped out of range
# line     p = paddle.clip(net(x), 0.0, 1.0)
import paddle
from paddle import nn

net = nn.Linear(3, 1, bias_attr=nn.initializer.Constant(100.0))
x = paddle.rand([4, 3])
p = paddle.clip(net(x), 0.0, 1.0)
loss = (p - 0.5).square().mean()
loss.backward()
