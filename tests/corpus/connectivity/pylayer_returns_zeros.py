# symptom  the layer before the custom operator does not learn
# cause    its backward multiplies by a mask computed from the wrong tensor
# command  why fc.weight
# verdict  zero: multiplied by 0
# line     return dy * mask
import paddle
from paddle import nn


class Gate(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        out = x.clip(min=0.0)
        ctx.save_for_backward(out * 0.0)
        return out

    @staticmethod
    def backward(ctx, dy):
        (mask,) = ctx.saved_tensor()
        return dy * mask


fc = nn.Linear(3, 3)
x = paddle.randn([4, 3])
h = Gate.apply(fc(x))
loss = (h + fc.bias).square().mean()
loss.backward()
