# symptom: training with a layer of one's own is slow
# cause: the user's backward forgets the factor 3
# run: gradtool gradcheck
# verdict: wrong net.weight wrong by a factor of 1/3
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
        return dy * x * x


net = paddle.nn.Linear(3, 2)
loss = Cube.apply(net(paddle.to_tensor([[0.5, -1.0, 2.0]]))).sum()
