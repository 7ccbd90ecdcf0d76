# about     LoRA: base weights are frozen, B starts at zero, so A's gradient is zero in the first step and not later.
import paddle
import paddle.nn.functional as F
from paddle import nn


class LoRALinear(nn.Layer):
    def __init__(self, base, rank=2, alpha=4.0):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.stop_gradient = True
        n_in, n_out = base.weight.shape
        self.A = self.create_parameter([n_in, rank], default_initializer=nn.initializer.Normal(0.0, 0.1))
        self.B = self.create_parameter([rank, n_out], default_initializer=nn.initializer.Constant(0.0))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + paddle.matmul(paddle.matmul(x, self.A), self.B) * self.scale


def adapt(model):
    for i, layer in enumerate(model):
        if isinstance(layer, nn.Linear):
            model[i] = LoRALinear(layer)
    return model


def main():
    paddle.seed(7)
    model = adapt(nn.Sequential(nn.Linear(6, 10), nn.GELU(), nn.Linear(10, 4)))
    trainable = [p for p in model.parameters() if not p.stop_gradient]
    opt = paddle.optimizer.AdamW(1e-2, parameters=trainable)
    for _ in range(3):
        x, y = paddle.randn([9, 6]), paddle.randint(0, 4, [9])
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
