# about     A physics-informed net: second derivatives of the net with respect to its input stand in the loss.
import numpy as np
import paddle
from paddle import nn


class Field(nn.Layer):
    def __init__(self, width=12):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(1, width), nn.Linear(width, width), nn.Linear(width, 1)

    def forward(self, x):
        return self.c(paddle.tanh(self.b(paddle.tanh(self.a(x)))))


def residual(net, x):
    u = net(x)
    (u_x,) = paddle.grad(u, [x], grad_outputs=paddle.ones_like(u), create_graph=True)
    (u_xx,) = paddle.grad(u_x, [x], grad_outputs=paddle.ones_like(u_x), create_graph=True)
    return u_xx + u


def main():
    paddle.seed(14)
    net = Field()
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    inside = paddle.to_tensor(np.linspace(0, 3, 20, dtype="float32").reshape(-1, 1))
    inside.stop_gradient = False
    border = paddle.to_tensor([[0.0], [3.0]])
    values = paddle.sin(border)
    for _ in range(3):
        loss = (residual(net, inside) ** 2).mean() + ((net(border) - values) ** 2).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        inside.clear_grad()


if __name__ == "__main__":
    main()
