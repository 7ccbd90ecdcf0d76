# symptom: none: nothing is wrong
# cause: the root is kept away from 0
# run: gradtool nan
# verdict: clean
# line: none

import paddle

points = paddle.to_tensor([[0.0, 0.0], [1.0, 2.0]], stop_gradient=False)
loss = paddle.sqrt(paddle.sum(points * points, axis=1) + 1e-12).sum()
loss.backward()
