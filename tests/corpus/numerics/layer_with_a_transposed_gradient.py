# symptom: the loss goes up
# cause: the user's backward multiplies in the wrong order
# run: gradtool gradcheck
# verdict: wrong w transposed
# line: none

import paddle


class Project(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return paddle.matmul(x, w)

    @staticmethod
    def backward(ctx, dy):
        x, _ = ctx.saved_tensor()
        return None, paddle.matmul(dy, x, transpose_x=True)


x = paddle.to_tensor([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]])
w = paddle.rand([3, 3])
w.stop_gradient = False
loss = (Project.apply(x, w) ** 2).mean()
