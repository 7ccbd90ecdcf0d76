# Frozen parameters that no optimizer knows.
import paddle
from paddle import nn

encoder, head = nn.Linear(4, 4), nn.Linear(4, 1)
encoder.weight.trainable = False
encoder.bias.trainable = False
opt = paddle.optimizer.SGD(0.1, parameters=head.parameters())
loss = head(encoder(paddle.randn([3, 4]))).square().mean()
loss.backward()
opt.step()
