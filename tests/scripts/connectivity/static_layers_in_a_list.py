# symptom   one layer of a static network is never trained
# cause     a plain list of layers is left out of the network from its second on
# command   why
# verdict   unused in forward
# line      self.blocks = [nn.Linear(8, 8) for _ in range(2)]
# affected  net.blocks[1].weight net.blocks[1].bias
import numpy as np
import paddle
from paddle import nn, static

paddle.enable_static()


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.blocks = [nn.Linear(8, 8) for _ in range(2)]

    def forward(self, x):
        return self.blocks[0](paddle.tanh(self.first(x)))


def main():
    x = static.data("x", [None, 4])
    net = Net()
    loss = net(x).square().mean()
    paddle.optimizer.SGD(0.1).minimize(loss)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    for _ in range(2):
        exe.run(feed={"x": np.ones([2, 4], "float32")}, fetch_list=[loss])


main()
