# symptom  the adapter has no gradient
# cause    a flag leaves its branch out
# command  why net.adapter.weight
# verdict  unused in forward
# line     self.adapter = nn.Linear(4, 4)
import paddle
from paddle import nn


class Net(nn.Layer):
    def __init__(self, use_adapter=False):
        super().__init__()
        self.body = nn.Linear(4, 1)
        self.adapter = nn.Linear(4, 4)
        self.use_adapter = use_adapter

    def forward(self, x):
        if self.use_adapter:
            x = x + self.adapter(x)
        return self.body(x)


net = Net()
loss = net(paddle.randn([3, 4])).square().mean()
loss.backward()
