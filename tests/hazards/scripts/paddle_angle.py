"""The angle between two vectors that come to point the same way."""

import paddle

paddle.seed(0)
a = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Assign([1.0, 1.0]))
b = paddle.to_tensor([1.0, 0.0])
optimizer = paddle.optimizer.SGD(0.5, parameters=[a])
for _ in range(200):
    cosine = paddle.sum(a * b) / paddle.sqrt(paddle.sum(a * a) + 1e-12)
    loss = paddle.acos(cosine) ** 2
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
