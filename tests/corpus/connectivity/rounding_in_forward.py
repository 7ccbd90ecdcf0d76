# symptom  the quantised layer gets zeros
# cause    round is constant between its steps
# command  why layer.weight
# verdict  non-differentiable op
# line     q = paddle.round(layer(x) * 8.0) / 8.0
import paddle
from paddle import nn

layer = nn.Linear(4, 4)
x = paddle.randn([3, 4])
q = paddle.round(layer(x) * 8.0) / 8.0
loss = q.square().mean()
loss.backward()
