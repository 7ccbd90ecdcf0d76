# symptom  nothing changes
# cause    the optimizer holds the parameters of a deep copy
# command  why
# verdict  not in parameter_list
# line     opt = paddle.optimizer.SGD(0.1, parameters=best.parameters())
import copy

import paddle
from paddle import nn

net = nn.Linear(4, 1)
best = copy.deepcopy(net)
opt = paddle.optimizer.SGD(0.1, parameters=best.parameters())
x = paddle.randn([5, 4])
loss = net(x).square().mean()
loss.backward()
opt.step()
