# The backbone is frozen on purpose, and all parameters are given to the optimizer.
import paddle
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Linear(4, 4)
        self.head = nn.Linear(4, 1)

    def forward(self, x):
        return self.head(paddle.tanh(self.backbone(x)))


net = Net()
for p in net.backbone.parameters():
    p.stop_gradient = True
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
loss = net(paddle.randn([3, 4])).square().mean()
loss.backward()
opt.step()
opt.clear_grad()
