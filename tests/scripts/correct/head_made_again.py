# symptom   none: the head of a pretrained network is replaced before the optimizer is made
# command   why
import paddle
import paddle.nn.functional as F
from paddle import nn


class Net(nn.Layer):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.head = nn.Linear(8, classes)

    def forward(self, x):
        return self.head(paddle.tanh(self.body(x)))


def build():
    net = Net(1000)
    net.head = nn.Linear(8, 3)
    return net


net = build()
optimizer = paddle.optimizer.Adam(0.01, parameters=net.parameters())
x, y = paddle.randn([4, 4]), paddle.to_tensor([0, 1, 2, 0])
for _ in range(2):
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
