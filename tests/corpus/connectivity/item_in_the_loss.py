# symptom  only one of the two terms trains
# cause    the penalty is turned into a Python number
# command  why gate.weight
# verdict  detached
# line     penalty = float((gate.weight * gate.weight).sum())
import paddle
from paddle import nn

net = nn.Linear(4, 2)
gate = nn.Linear(4, 2)
x = paddle.randn([3, 4])
penalty = float((gate.weight * gate.weight).sum())
strength = paddle.to_tensor(penalty)
loss = net(x).square().mean() + 0.1 * strength
loss.backward()
