# symptom  the first branch does not learn
# cause    its result is overwritten before it is used
# command  why first.weight
# verdict  used, but no path to the loss
# line     h = first(x)
import paddle
from paddle import nn

first, second = nn.Linear(4, 4), nn.Linear(4, 4)
x = paddle.randn([3, 4])
h = first(x)
h = second(x)
loss = h.square().mean()
loss.backward()
