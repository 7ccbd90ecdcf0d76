"""Features divided by their deviation, until they are all alike."""

import paddle
import paddle.nn.functional as F

paddle.seed(0)
w = paddle.create_parameter([3], "float32", default_initializer=paddle.nn.initializer.Assign([3.0, 2.0, 1.0]))
optimizer = paddle.optimizer.SGD(0.5, parameters=[w])
for _ in range(60):
    h = F.relu(w)
    loss = (h / paddle.std(h)).sum() + h.sum()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
