# symptom  backward raises
# cause    tanh needs the output that add_ overwrites
# command  why --error
# verdict  overwritten in place
# line     h.add_(paddle.ones_like(h))
import paddle
from paddle import nn

net = nn.Linear(3, 3)
x = paddle.randn([2, 3])
h = paddle.tanh(net(x))
y = h * 2.0
h.add_(paddle.ones_like(h))
loss = (y * h).sum()
loss.backward()
