# symptom  the second step raises
# cause    the forward pass stands before the loop
# command  why --error
# verdict  freed graph
# line     loss.backward()
import paddle
from paddle import nn

net = nn.Linear(4, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
x, y = paddle.randn([6, 4]), paddle.randn([6, 1])
loss = (net(x) - y).square().mean()
for step in range(3):
    loss.backward()
    opt.step()
    opt.clear_grad()
