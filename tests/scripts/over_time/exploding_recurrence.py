# symptom   gradients are huge and grow with the length of the sequence
# cause     a recurrence whose matrix is larger than 1 in norm
# command   nan
# verdict   range of float32
# line      h = x[:, t] + h @ self.recurrent
import paddle
from paddle import nn


class Linear(nn.Layer):
    def __init__(self, size):
        super().__init__()
        start = nn.initializer.Constant(1.5)
        self.recurrent = self.create_parameter([size, size], default_initializer=start)

    def forward(self, x):
        h = paddle.zeros([x.shape[0], x.shape[2]])
        for t in range(x.shape[1]):
            h = x[:, t] + h @ self.recurrent
        return h


def main():
    paddle.seed(5)
    net = Linear(6)
    opt = paddle.optimizer.SGD(1e-6, parameters=net.parameters())
    for length in (5, 20, 60):
        loss = net(paddle.rand([4, length, 6])).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        print(length, float(loss))


if __name__ == "__main__":
    main()
