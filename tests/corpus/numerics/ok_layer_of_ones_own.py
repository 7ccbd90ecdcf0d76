# symptom: none: nothing is wrong
# cause: a right backward
# run: gradtool gradcheck
# verdict: clean
# line: none

import paddle


class Cube(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensor()
        return dy * 3 * x * x


net = paddle.nn.Linear(3, 2)
loss = Cube.apply(net(paddle.to_tensor([[0.5, -1.0, 2.0]]))).sum()
