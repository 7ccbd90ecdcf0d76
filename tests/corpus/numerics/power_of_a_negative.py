# symptom: loss is NaN
# cause: a negative number to a fractional power
# run: gradtool nan
# verdict: forward pow fractional power
# line: 11

import paddle

net = paddle.nn.Linear(2, 3)
error = net(paddle.ones([4, 2])) - 3.0
loss = paddle.mean(error**1.5)
