# symptom   the middle layers stay as they were initialised
# cause     layers are held in a plain list, so parameters() does not list them and the optimizer has not got them
# command   why
# verdict   not in parameter_list
# line      self.blocks = [nn.Linear(width, width) for _ in range(depth)]
# affected  net.blocks[0].weight net.blocks[1].weight net.blocks[0].bias net.blocks[1].bias
import paddle
import paddle.nn.functional as F
from paddle import nn


class Deep(nn.Layer):
    def __init__(self, width=8, depth=2):
        super().__init__()
        self.first = nn.Linear(4, width)
        self.blocks = [nn.Linear(width, width) for _ in range(depth)]
        self.last = nn.Linear(width, 1)

    def forward(self, x):
        h = paddle.tanh(self.first(x))
        for block in self.blocks:
            h = h + paddle.tanh(block(h))
        return self.last(h)


def main():
    paddle.seed(1)
    net = Deep()
    opt = paddle.optimizer.SGD(0.05, parameters=net.parameters())
    for _ in range(3):
        x = paddle.randn([10, 4])
        loss = F.mse_loss(net(x), x.sum(axis=1, keepdim=True))
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
