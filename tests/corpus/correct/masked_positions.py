# The mask takes out the padding and leaves the rest.
import paddle
from paddle import nn

net = nn.Linear(4, 3)
x = paddle.randn([2, 5, 4])
mask = paddle.to_tensor([[1.0, 1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0]]).unsqueeze(-1)
loss = (net(x) * mask).square().sum() / mask.sum()
loss.backward()
