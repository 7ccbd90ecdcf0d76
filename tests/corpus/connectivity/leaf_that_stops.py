# symptom  x.grad is None
# cause    to_tensor stops gradients by default
# command  why x
# verdict  stop_gradient
# line     x = paddle.to_tensor([[0.5, -1.0]])
import paddle
from paddle import nn

net = nn.Linear(2, 1)
x = paddle.to_tensor([[0.5, -1.0]])
loss = net(x).sum()
loss.backward()
