# symptom  the whole model gets nothing but its head
# cause    forward of a block is decorated with no_grad
# command  why net.block.fc.weight
# verdict  computed under no_grad
# line     @paddle.no_grad()
import paddle
from paddle import nn


class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    @paddle.no_grad()
    def forward(self, x):
        return paddle.tanh(self.fc(x))


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.head = nn.Linear(4, 1)

    def forward(self, x):
        return self.head(self.block(x))


net = Net()
loss = net(paddle.randn([2, 4])).mean()
loss.backward()
