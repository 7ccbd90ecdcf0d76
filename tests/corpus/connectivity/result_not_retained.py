# symptom  h.grad is None
# cause    h is a result, and results keep no gradient
# command  why h
# verdict  non-leaf, not retained
# line     h = paddle.tanh(net(x))
import paddle
from paddle import nn

net = nn.Linear(4, 3)
x = paddle.randn([2, 4])
h = paddle.tanh(net(x))
loss = h.square().mean()
loss.backward()
