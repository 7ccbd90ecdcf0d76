# symptom  nothing learns
# cause    relu of the output is 0 for every row
# command  why
# verdict  zero: dead relu
# line     y = nn.functional.relu(net(x) - 50.0)
import paddle
from paddle import nn

net = nn.Linear(3, 1)
x = paddle.rand([8, 3])
y = nn.functional.relu(net(x) - 50.0)
loss = (y - 1.0).square().mean()
loss.backward()
