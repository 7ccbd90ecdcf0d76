# symptom  the correction does not learn
# cause    the condition holds nowhere
# command  why fix.weight
# verdict  zero: never selected
# line     y = paddle.where(x.abs().sum(axis=-1, keepdim=True) > 1e6, fix(x), base(x))
import paddle
from paddle import nn

fix, base = nn.Linear(4, 2), nn.Linear(4, 2)
x = paddle.randn([5, 4])
y = paddle.where(x.abs().sum(axis=-1, keepdim=True) > 1e6, fix(x), base(x))
loss = y.square().mean()
loss.backward()
