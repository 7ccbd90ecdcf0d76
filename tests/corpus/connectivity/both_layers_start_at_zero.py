# symptom  nothing ever changes
# cause    two layers in a row start at zero
# command  why net.0.weight
# verdict  zero: multiplied by 0
# line     nn.Linear(4, 1, weight_attr=zero, bias_attr=False),
import paddle
from paddle import nn

zero = nn.initializer.Constant(0.0)
net = nn.Sequential(
    nn.Linear(4, 4, weight_attr=zero, bias_attr=False),
    nn.Linear(4, 1, weight_attr=zero, bias_attr=False),
)
x = paddle.randn([3, 4])
loss = (net(x) - 1.0).square().mean()
loss.backward()
