# symptom  gradients are 1e-9
# cause    probabilities are summed over the axis that softmax normalises
# command  why
# verdict  zero: cancellation
# line     p = nn.functional.softmax(net(x), axis=-1)
import paddle
from paddle import nn

net = nn.Linear(4, 5)
x = paddle.randn([6, 4])
p = nn.functional.softmax(net(x), axis=-1)
loss = p.sum(axis=-1).mean()
loss.backward()
