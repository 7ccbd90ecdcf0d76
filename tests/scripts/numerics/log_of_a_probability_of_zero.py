# symptom   the loss is NaN after some steps
# cause     log of a probability that has become exactly 0
# command   nan
# verdict   log
# line      return -(target * paddle.log(p) + (1 - target) * paddle.log(1 - p)).mean()
import paddle
import paddle.nn.functional as F
from paddle import nn


def cross_entropy(logits, target):
    p = F.sigmoid(logits)
    return -(target * paddle.log(p) + (1 - target) * paddle.log(1 - p)).mean()


def main():
    paddle.seed(0)
    net = nn.Linear(4, 1)
    opt = paddle.optimizer.SGD(20.0, parameters=net.parameters())
    x = paddle.randn([32, 4]) * 4
    y = (x[:, :1] > 0).astype("float32")
    for step in range(12):
        loss = cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        print(step, float(loss))


if __name__ == "__main__":
    main()
