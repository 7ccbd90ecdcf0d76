# symptom   the loss is fine and gradients are NaN
# cause     the square root of a distance that is 0 has an infinite slope, and 0 times infinity is NaN
# command   nan
# verdict   sqrt
# line      return paddle.sqrt(((a - b) ** 2).sum(axis=-1))
import paddle
from paddle import nn


def distance(a, b):
    return paddle.sqrt(((a - b) ** 2).sum(axis=-1))


class Embedder(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(x)


def main():
    paddle.seed(1)
    net = Embedder()
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for _ in range(2):
        anchor = paddle.randn([5, 4])
        positive = anchor.clone()
        negative = paddle.randn([5, 4])
        near, far = distance(net(anchor), net(positive)), distance(net(anchor), net(negative))
        loss = paddle.clip(near - far + 0.5, min=0.0).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
