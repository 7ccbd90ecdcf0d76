# symptom   the layers before the quantiser stay as they are
# cause     its backward returns zeros
# command   why
# verdict   zero: multiplied by 0
# line      return paddle.zeros_like(grad)
# affected  encoder.weight
import paddle
from paddle import nn
from paddle.autograd import PyLayer


class Quantise(PyLayer):
    @staticmethod
    def forward(ctx, x):
        return paddle.round(x * 4) / 4

    @staticmethod
    def backward(ctx, grad):
        return paddle.zeros_like(grad)


def main():
    paddle.seed(0)
    encoder, decoder = nn.Linear(3, 4), nn.Linear(4, 3)
    opt = paddle.optimizer.SGD(0.1, parameters=[*encoder.parameters(), *decoder.parameters()])
    for _ in range(3):
        x = paddle.randn([6, 3])
        loss = ((decoder(Quantise.apply(encoder(x))) - x) ** 2).mean()
        opt.clear_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    main()
