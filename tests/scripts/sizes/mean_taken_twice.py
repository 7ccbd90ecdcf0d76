# symptom   nothing moves: every gradient is a billionth
# cause     the loss is divided by the number of pixels after a mean over them
# command   why
# verdict   a constant factor of 9.09495e-13
# line      return F.mse_loss(out, x) / float(pixels) ** 2
# affected  net.weight
import paddle
import paddle.nn.functional as F
from paddle import nn


def image_loss(out, x):
    pixels = x.shape[0] * x.shape[1] * 64
    return F.mse_loss(out, x) / float(pixels) ** 2


def main():
    paddle.seed(2)
    net = nn.Linear(256, 256)
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    for _ in range(2):
        x = paddle.rand([64, 256])
        loss = image_loss(net(x), x)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
