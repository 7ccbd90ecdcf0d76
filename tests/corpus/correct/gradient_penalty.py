# A penalty by paddle.grad with create_graph.
import paddle
from paddle import nn

critic = nn.Sequential(nn.Linear(4, 8, bias_attr=False), nn.Tanh(), nn.Linear(8, 1, bias_attr=False))
x = paddle.randn([6, 4])
x.stop_gradient = False
(slope,) = paddle.grad(critic(x).sum(), x, create_graph=True)
loss = (slope.norm() - 1.0) ** 2
loss.backward()
