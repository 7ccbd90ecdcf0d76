# about  a target that the last layer cannot reach
# code   GT703
# told   loss and target
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(0)


net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1), nn.Sigmoid())
x, y = paddle.rand([8, 4]), paddle.rand([8, 1]) + 40  # right: x, y = paddle.rand([8, 4]), paddle.rand([8, 1])
loss = F.mse_loss(net(x), y)  # here
loss.backward()
