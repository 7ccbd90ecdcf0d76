# symptom: parameters are NaN after one step
# cause: Adam divides 0 by 0: epsilon is 0 and a gradient is 0
# run: gradtool nan
# verdict: update adam epsilon is 0
# line: 14

import paddle

w = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(0.5))
optimizer = paddle.optimizer.Adam(learning_rate=0.1, epsilon=0.0, parameters=[w])
for _ in range(3):
    loss = paddle.sum(w * paddle.to_tensor([1.0, 0.0]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
