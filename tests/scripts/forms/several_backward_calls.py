# symptom   the penalty's loss does not reach the gain
# cause     two losses are backpropagated; the second one's graph starts at a detached copy
# command   why
# verdict   detached
# line      second = (out.detach() * 2 - 1).square().mean() + penalty.square().sum()
# affected  net.weight net.bias
import paddle
from paddle import nn

paddle.seed(4)
net = nn.Linear(3, 1)
penalty = paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(0.5))
opt = paddle.optimizer.SGD(0.1, parameters=[*net.parameters(), penalty])
x = paddle.randn([5, 3])
for _ in range(2):
    out = net(x)
    second = (out.detach() * 2 - 1).square().mean() + penalty.square().sum()
    second.backward()
    opt.step()
    opt.clear_grad()
