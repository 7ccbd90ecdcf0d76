# symptom: training diverges after some steps
# cause: gradient descent overshoots until the squares overflow
# run: gradtool nan
# verdict: forward square range of float32
# line: 12

import paddle

w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
optimizer = paddle.optimizer.SGD(learning_rate=200.0, parameters=[w])
for _ in range(30):
    loss = paddle.square(w * 3.0 - 1.0).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
