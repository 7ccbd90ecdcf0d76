# symptom: none: nothing is wrong
# cause: the library's norm takes the gradient at 0 as 0
# run: gradtool nan
# verdict: clean
# line: none

import paddle

x = paddle.zeros([3])
x.stop_gradient = False
loss = paddle.norm(x)
loss.backward()
