"""The distance of two points that meet."""

import paddle

paddle.seed(0)
a = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Assign([1.0, 0.0]))
b = paddle.zeros([2])
optimizer = paddle.optimizer.SGD(0.125, parameters=[a])
for _ in range(20):
    loss = paddle.sqrt(paddle.sum((a - b) ** 2))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
