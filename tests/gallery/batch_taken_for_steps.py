# about  a recurrent layer that takes the batch for the steps
# code   GT601
# told   rnn
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(0)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(6, 8, time_major=True)  # right: self.rnn = nn.GRU(6, 8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        h, _ = self.rnn(x)  # here
        return self.head(h[:, -1])


net = Net()
loss = F.cross_entropy(net(paddle.randn([4, 5, 6])), paddle.to_tensor([0, 1, 2, 0]))
loss.backward()
