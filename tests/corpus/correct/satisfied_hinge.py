# All margins are kept: the hinge loss is 0.
import paddle
from paddle import nn

w = paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(10.0))
x, y = paddle.to_tensor([1.0, -2.0, 3.0]), paddle.to_tensor([1.0, -1.0, 1.0])
loss = nn.functional.relu(1.0 - y * x * w).mean()
loss.backward()
