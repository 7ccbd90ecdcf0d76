# symptom  the gate is never trained
# cause    a comparison has no gradient
# command  why gate.weight
# verdict  non-differentiable op
# line     open_ = (gate(x) > 0.0).astype("float32")
import paddle
from paddle import nn

gate, body = nn.Linear(4, 2), nn.Linear(4, 2)
x = paddle.randn([7, 4])
open_ = (gate(x) > 0.0).astype("float32")
loss = (body(x) * open_).mean()
loss.backward()
