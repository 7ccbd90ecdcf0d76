# symptom   the residual block does not learn
# cause     its forward is decorated with no_grad, as version 1 wrote it
# command   why
# verdict   computed under no_grad
# line      @no_grad
# affected  net.block.a.weight net.block.b.bias
import numpy as np
import paddle.fluid as fluid
from paddle.fluid.dygraph import Layer, Linear, guard, no_grad, to_variable


class Block(Layer):
    def __init__(self, dim):
        super().__init__()
        self.a = Linear(dim, dim, act='relu')
        self.b = Linear(dim, dim)

    @no_grad
    def forward(self, x):
        return x + self.b(self.a(x))


class Net(Layer):
    def __init__(self):
        super().__init__()
        self.block = Block(6)
        self.out = Linear(6, 1)

    def forward(self, x):
        return self.out(self.block(x))


def train():
    with guard():
        net = Net()
        opt = fluid.optimizer.Adam(0.01, parameter_list=net.parameters())
        for _ in range(3):
            x = to_variable(np.random.randn(4, 6).astype('float32'))
            loss = fluid.layers.mean(fluid.layers.square_error_cost(net(x), fluid.layers.reduce_sum(x, 1, keep_dim=True)))
            loss.backward()
            opt.minimize(loss)
            net.clear_gradients()


if __name__ == '__main__':
    train()
