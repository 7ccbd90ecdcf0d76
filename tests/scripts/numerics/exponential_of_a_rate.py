# symptom   NaN at the fourth step
# cause     exp of an unbounded rate overflows
# command   nan
# verdict   exp
# line      rate = paddle.exp(net(x))
import paddle
from paddle import nn


def main():
    paddle.seed(2)
    net = nn.Linear(3, 1)
    opt = paddle.optimizer.SGD(0.5, parameters=net.parameters())
    x = paddle.randn([20, 3]) * 3
    counts = paddle.exp(x.sum(axis=1, keepdim=True) * 0.5).floor()
    for step in range(8):
        rate = paddle.exp(net(x))
        loss = (rate - counts * paddle.log(rate)).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        print(step, float(loss))


if __name__ == "__main__":
    main()
