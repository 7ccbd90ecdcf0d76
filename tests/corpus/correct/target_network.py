# The target network is evaluated under no_grad; it is a frozen copy.
import copy

import paddle
from paddle import nn

value = nn.Linear(4, 1)
target = copy.deepcopy(value)
for p in target.parameters():
    p.stop_gradient = True
opt = paddle.optimizer.SGD(0.1, parameters=value.parameters())
now, later = paddle.randn([6, 4]), paddle.randn([6, 4])
with paddle.no_grad():
    goal = 1.0 + 0.9 * target(later)
loss = (value(now) - goal).square().mean()
loss.backward()
opt.step()
opt.clear_grad()
