# symptom: none: nothing is wrong
# cause: infinity as the start of a minimum
# run: gradtool nan
# verdict: clean
# line: none

import paddle

w = paddle.to_tensor([3.0, 1.0, 2.0], stop_gradient=False)
best = paddle.full([], float("inf"))
for i in range(3):
    best = paddle.minimum(best, w[i])
loss = best * 2.0
loss.backward()
