# symptom  no gradients after the evaluation
# cause    set_grad_enabled(False) is never undone
# command  why
# verdict  computed under no_grad
# line     paddle.set_grad_enabled(False)
import paddle
from paddle import nn

net = nn.Linear(4, 1)
x = paddle.randn([2, 4])
paddle.set_grad_enabled(False)
score = net(x).mean()
loss = net(x).square().mean()
paddle.set_grad_enabled(True)
