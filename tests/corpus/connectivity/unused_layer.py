# symptom  spare.weight.grad is None
# cause    forward never calls it
# command  why net.spare.weight
# verdict  unused in forward
# line     self.spare = nn.Linear(4, 4)
import paddle
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 1)
        self.spare = nn.Linear(4, 4)

    def forward(self, x):
        return self.body(x)


net = Net()
loss = net(paddle.randn([2, 4])).mean()
loss.backward()
