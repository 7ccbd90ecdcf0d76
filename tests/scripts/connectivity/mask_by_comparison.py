# symptom   the threshold never moves
# cause     the learnable threshold is compared, and a comparison has no gradient
# command   why
# verdict   non-differentiable op
# line      keep = (h > self.threshold).astype("float32")
# affected  net.threshold
import paddle
from paddle import nn


class Gate(nn.Layer):
    def __init__(self, size):
        super().__init__()
        self.fc = nn.Linear(size, size)
        self.threshold = self.create_parameter([1], default_initializer=nn.initializer.Constant(0.1))

    def forward(self, x):
        h = self.fc(x)
        keep = (h > self.threshold).astype("float32")
        return h * keep


def main():
    paddle.seed(16)
    net = Gate(5)
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    for _ in range(3):
        x = paddle.randn([9, 5])
        loss = (net(x) - x).square().mean()
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
