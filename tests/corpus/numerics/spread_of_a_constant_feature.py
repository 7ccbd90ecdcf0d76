# symptom: gradients NaN, loss fine
# cause: std of a constant: sqrt at 0
# run: gradtool nan
# verdict: backward sqrt_grad out = 0
# line: 11

import paddle

net = paddle.nn.Linear(2, 3)
x = paddle.ones([4, 2])
spread = paddle.std(net(x), axis=0)
loss = spread.sum()
loss.backward()
