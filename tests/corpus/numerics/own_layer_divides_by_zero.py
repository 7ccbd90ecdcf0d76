# symptom: the gradient is inf, the loss fine
# cause: the user's own backward divides by 0
# run: gradtool nan
# verdict: backward elementwise_div division by 0
# line: 21

import paddle
from paddle.autograd import PyLayer


class Root(PyLayer):
    @staticmethod
    def forward(ctx, x):
        y = paddle.sqrt(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, dy):
        (y,) = ctx.saved_tensor()
        return dy / (2 * y)


x = paddle.to_tensor([0.0, 4.0], stop_gradient=False)
loss = Root.apply(x).sum()
loss.backward()
