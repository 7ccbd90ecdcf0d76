"""The logarithm of a sum of squares that becomes 0."""

import paddle

paddle.seed(0)
w = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Assign([1.0, 0.5]))
optimizer = paddle.optimizer.SGD(0.125, parameters=[w])
for _ in range(60):
    h = paddle.clip(w, min=0.0)
    loss = paddle.log(paddle.sum(h**2)) + h.sum()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
