# symptom  half of the layers stay as they were
# cause    a Python list hides layers from parameters()
# command  why
# verdict  not in parameter_list
# line     opt = paddle.optimizer.Adam(0.01, parameters=net.parameters())
import paddle
from paddle import nn


class Tower(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.rest = [nn.Linear(4, 4) for _ in range(2)]

    def forward(self, x):
        x = self.first(x)
        for layer in self.rest:
            x = layer(paddle.tanh(x))
        return x


net = Tower()
opt = paddle.optimizer.Adam(0.01, parameters=net.parameters())
hidden = net.rest[1]
x = paddle.randn([5, 4])
loss = net(x).square().mean()
loss.backward()
opt.step()
