# symptom: loss = inf after a confident mistake
# cause: log(0): softmax underflowed before the log
# run: gradtool nan
# verdict: forward log log(0)
# line: 16

import paddle
import paddle.nn.functional as F

net = paddle.nn.Linear(2, 3)
net.weight.set_value(paddle.full([2, 3], 90.0) * paddle.to_tensor([1.0, 0.0, -1.0]))
x = paddle.ones([4, 2])
label = paddle.to_tensor([2, 2, 0, 1])
p = F.softmax(net(x))
picked = paddle.sum(p * F.one_hot(label, 3), axis=-1)
loss = -paddle.log(picked).mean()
