# symptom  the head does not learn
# cause    the loop that freezes the backbone freezes all
# command  why net.head.weight
# verdict  stop_gradient
# line     p.stop_gradient = True
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
for p in net.parameters():
    p.stop_gradient = True
x = paddle.randn([3, 4])
loss = net(x).mean()
