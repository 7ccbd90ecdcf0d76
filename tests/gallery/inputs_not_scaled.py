# about  pixels from 0 to 255, and a first loss far above that of guessing
# code   GT704
# told   the first loss
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
        h = F.relu(self.mid(h))
        return self.head(h)  # here


net = Net()
opt = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
x, y = 255 * paddle.rand([8, 6]), paddle.to_tensor([0, 1, 2, 0, 1, 2, 0, 1])
x = x * 1.0  # right: x = x / 255
for _ in range(3):
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
