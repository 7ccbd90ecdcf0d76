# A moving average of the weights, kept under no_grad, for evaluation.
import paddle
from paddle import nn

net = nn.Linear(4, 1)
average = [p.clone().detach() for p in net.parameters()]
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for _ in range(2):
    loss = net(paddle.randn([6, 4])).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
    with paddle.no_grad():
        for mean, p in zip(average, net.parameters()):
            mean.set_value(0.9 * mean + 0.1 * p)
