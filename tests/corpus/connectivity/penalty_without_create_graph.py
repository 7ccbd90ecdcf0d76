# symptom  the gradient penalty has no effect
# cause    paddle.grad without create_graph gives constants
# command  why critic.weight
# verdict  detached
# line     (slope,) = paddle.grad(score.sum(), x)
import paddle
from paddle import nn

critic = nn.Linear(4, 1, bias_attr=False)
x = paddle.randn([6, 4])
x.stop_gradient = False
score = paddle.tanh(critic(x))
(slope,) = paddle.grad(score.sum(), x)
loss = (slope.norm() - 1.0) ** 2
