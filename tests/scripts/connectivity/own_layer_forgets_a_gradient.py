# symptom   the learned threshold never moves
# cause     backward of the layer gives it None
# command   why
# verdict   non-differentiable op
# line      return grad * mask, None
# affected  threshold
import paddle
from paddle import nn
from paddle.autograd import PyLayer


class Shrink(PyLayer):
    @staticmethod
    def forward(ctx, x, threshold):
        mask = (x.abs() > threshold).astype(x.dtype)
        ctx.save_for_backward(mask)
        return x * mask

    @staticmethod
    def backward(ctx, grad):
        (mask,) = ctx.saved_tensor()
        return grad * mask, None


def main():
    paddle.seed(5)
    layer = nn.Linear(4, 4)
    threshold = paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(0.1))
    opt = paddle.optimizer.SGD(0.1, parameters=[*layer.parameters(), threshold])
    for _ in range(3):
        loss = ((Shrink.apply(layer(paddle.randn([6, 4])), threshold) - 1) ** 2).mean()
        opt.clear_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    main()
