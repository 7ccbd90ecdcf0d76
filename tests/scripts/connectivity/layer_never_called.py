# symptom   a parameter's gradient is None
# cause     a layer is made in __init__ and forgotten in forward
# command   why
# verdict   unused in forward
# line      self.norm = nn.LayerNorm(8)
# affected  model.one.norm.weight model.one.norm.bias
import paddle
import paddle.nn.functional as F
from paddle import nn


class Encoder(nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 8)
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        return x + F.gelu(self.inner(x))


def main():
    model = nn.Sequential(("one", Encoder()), ("out", nn.Linear(8, 1)))
    opt = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
    for _ in range(2):
        loss = model(paddle.randn([4, 8])).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
