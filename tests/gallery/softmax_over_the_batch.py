# about  samples that share one softmax
# code   GT601
# told   softmax
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(0)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body, self.mid, self.head = nn.Linear(6, 16), nn.Linear(16, 16), nn.Linear(16, 3)

    def forward(self, x):
        h = F.relu(self.body(x))
        h = h * F.softmax(self.mid(h), axis=0)  # right: h = h * F.softmax(self.mid(h), axis=-1)
        return self.head(h)


net = Net()
opt = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
x, y = paddle.randn([8, 6]), paddle.to_tensor([0, 1, 2, 0, 1, 2, 0, 1])
for _ in range(3):
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
