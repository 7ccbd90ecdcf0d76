# One half of a low-rank adapter starts at zero, so the other has no gradient in the first step.
import paddle
from paddle import nn

base = nn.Linear(4, 4)
for p in base.parameters():
    p.stop_gradient = True
down = paddle.create_parameter([4, 2], "float32")
up = paddle.create_parameter([2, 4], "float32", default_initializer=nn.initializer.Constant(0.0))
x = paddle.randn([8, 4])
loss = (base(x) + x @ down @ up - 1.0).square().mean()
loss.backward()
