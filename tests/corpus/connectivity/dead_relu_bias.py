# symptom  the first layer's gradient is zero
# cause    a bias of -10 kills every unit
# command  why net.0.weight
# verdict  zero: dead relu
# line     loss = (net(x) - 1.0).square().mean()
import paddle
from paddle import nn

net = nn.Sequential(
    nn.Linear(4, 8, bias_attr=nn.initializer.Constant(-10.0)),
    nn.ReLU(),
    nn.Linear(8, 1),
)
x = paddle.rand([16, 4])
loss = (net(x) - 1.0).square().mean()
loss.backward()
