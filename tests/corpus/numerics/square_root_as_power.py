# symptom: gradient inf for dead units
# cause: the slope of x ** 0.5 at 0
# run: gradtool nan
# verdict: backward pow_grad x = 0
# line: 13

import paddle
import paddle.nn.functional as F

net = paddle.nn.Linear(2, 4)
x = paddle.to_tensor([[1.0, 2.0], [3.0, -1.0]])
active = F.relu(net(x) - 4.0)
energy = active**0.5
loss = energy.sum()
loss.backward()
