# symptom   NaN for large logits
# cause     exp of logits without taking their maximum away
# command   nan
# verdict   exp
# line      e = paddle.exp(logits)
import paddle
from paddle import nn


def softmax(logits):
    e = paddle.exp(logits)
    return e / e.sum(axis=-1, keepdim=True)


def main():
    paddle.seed(6)
    net = nn.Linear(4, 3)
    net.weight.set_value(net.weight * 200.0)
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    x = paddle.randn([10, 4])
    loss = -paddle.log(softmax(net(x))[:, 0] + 1e-9).mean()
    loss.backward()
    opt.step()


if __name__ == "__main__":
    main()
