# about  probabilities that a loss makes probabilities of once more
# code   GT708
# told   cannot fall below 0.5514
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(0)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(6, 16), nn.Linear(16, 3)

    def forward(self, x):
        return F.softmax(self.head(F.relu(self.body(x))), axis=-1)

    def scores(self, x):
        return self.head(F.relu(self.body(x)))


net = Net()
opt = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
x, y = paddle.randn([8, 6]), paddle.to_tensor([0, 1, 2, 0, 1, 2, 0, 1])
for _ in range(3):
    loss = F.cross_entropy(net(x), y)  # right: loss = F.cross_entropy(net.scores(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
