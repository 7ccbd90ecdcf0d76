# Model-agnostic meta-learning: the gradient goes through the inner step.
import paddle
import paddle.nn.functional as F
from paddle import nn


def forward(parameters, x):
    w, b, v, c = parameters
    return F.linear(F.tanh(F.linear(x, w, b)), v, c)


def main():
    paddle.seed(0)
    net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for _ in range(3):
        total = 0.0
        for phase in (0.0, 1.0):
            x = paddle.rand([6, 1])
            y = paddle.sin(x + phase)
            parameters = list(net.parameters())
            inner = F.mse_loss(forward(parameters, x), y)
            slopes = paddle.grad(inner, parameters, create_graph=True)
            adapted = [p - 0.1 * g for p, g in zip(parameters, slopes)]
            total = total + F.mse_loss(forward(adapted, x), y)
        opt.clear_grad()
        total.backward()
        opt.step()


if __name__ == "__main__":
    main()
