# symptom  the new head does not learn
# cause    the optimizer was made before the head was replaced
# command  why
# verdict  not in parameter_list
# line     opt = paddle.optimizer.Adam(0.01, parameters=net.parameters())
import paddle
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.head = nn.Linear(4, 10)

    def forward(self, x):
        return self.head(paddle.tanh(self.body(x)))


net = Net()
opt = paddle.optimizer.Adam(0.01, parameters=net.parameters())
net.head = nn.Linear(4, 2)
x = paddle.randn([3, 4])
loss = net(x).square().mean()
loss.backward()
opt.step()
opt.clear_grad()
