# symptom: none: nothing is wrong
# cause: zeros everywhere are no NaN
# run: gradtool nan
# verdict: clean
# line: none

import paddle
import paddle.nn.functional as F

net = paddle.nn.Linear(2, 3)
loss = F.relu(net(paddle.ones([4, 2])) - 100.0).sum()
loss.backward()
