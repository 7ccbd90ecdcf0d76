# symptom  the detector never learns
# cause    its output is detached before it is added
# command  why net.det.weight
# verdict  detached
# line     k = self.det(h).detach()
import paddle
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.emb = nn.Linear(6, 4)
        self.det = nn.Linear(4, 4)
        self.head = nn.Linear(4, 1)

    def forward(self, x):
        h = paddle.tanh(self.emb(x))
        k = self.det(h).detach()
        return self.head(h + k)


net = Net()
x = paddle.randn([8, 6])
loss = net(x).square().mean()
loss.backward()
