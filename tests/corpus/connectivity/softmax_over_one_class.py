# symptom  accuracy stays at chance
# cause    softmax over an axis of one element
# command  why
# verdict  zero: saturated
# line     p = nn.functional.softmax(net(x), axis=-1)
import paddle
from paddle import nn

net = nn.Linear(4, 1)
x, y = paddle.randn([6, 4]), paddle.rand([6, 1])
p = nn.functional.softmax(net(x), axis=-1)
loss = (p - y).square().mean()
loss.backward()
