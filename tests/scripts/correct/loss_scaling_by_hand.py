# about     The loss is scaled by 1024, and gradients are divided by it before the step; nothing is left scaled.
import paddle
import paddle.nn.functional as F
from paddle import nn

SCALE = 1024.0


def main():
    paddle.seed(2)
    net = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 1))
    opt = paddle.optimizer.SGD(0.01, parameters=net.parameters())
    for _ in range(3):
        x = paddle.randn([10, 4])
        y = x.prod(axis=1, keepdim=True)
        loss = F.mse_loss(net(x), y)
        (loss * SCALE).backward()
        with paddle.no_grad():
            for p in net.parameters():
                p.grad.set_value(p.grad / SCALE)
        opt.step()
        opt.clear_grad()
        print(float(loss))


if __name__ == "__main__":
    main()
