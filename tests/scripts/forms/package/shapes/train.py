# symptom   the last inner layer has no gradient
# cause     forward leaves the last of the list out
# module    shapes.train
# command   why
# verdict   unused in forward
# line      self.inner = nn.LayerList([nn.Linear(size, size) for _ in range(depth)])
# affected  net.inner.2.weight net.inner.2.bias
import paddle
import paddle.nn.functional as F

from .layers import Stack


def main():
    paddle.seed(2)
    net = Stack(4, 3)
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for _ in range(2):
        x = paddle.randn([6, 4])
        loss = F.mse_loss(net(x), x[:, :1])
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
