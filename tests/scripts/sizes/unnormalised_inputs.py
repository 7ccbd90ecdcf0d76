# symptom   gradients are in the millions
# cause     house sizes and prices go in as they stand in the table
# command   why
# verdict   large
# line      return paddle.concat([area, rooms], axis=1), paddle.rand([64, 1])
# affected  net.0.weight
import paddle
import paddle.nn.functional as F
from paddle import nn


def batch():
    area = paddle.rand([64, 1]) * 5000.0 + 20000.0
    rooms = paddle.randint(1, 8, [64, 1]).astype("float32")
    return paddle.concat([area, rooms], axis=1), paddle.rand([64, 1])


def main():
    paddle.seed(3)
    net = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for _ in range(3):
        x, y = batch()
        loss = F.mse_loss(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
