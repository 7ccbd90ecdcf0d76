# about     Half precision by hand: the loss is scaled by 2**15, and the gradients are scaled back before the step.
import paddle
import paddle.nn.functional as F
from paddle import nn

SCALE = 2.0**15


def main():
    paddle.seed(5)
    net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    for _ in range(3):
        x, y = paddle.randn([16, 6]), paddle.randint(0, 3, [16])
        loss = F.cross_entropy(net(x), y)
        (loss * SCALE).backward()
        with paddle.no_grad():
            for p in net.parameters():
                p.grad.set_value(p.grad / SCALE)
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
