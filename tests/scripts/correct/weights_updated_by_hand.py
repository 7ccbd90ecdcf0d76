# about     Gradient descent written out: weights are rebound under no_grad and made to want a gradient again, each step.
import numpy as np
import paddle

rng = np.random.RandomState(0)
x = paddle.to_tensor(rng.randn(40, 3).astype("float32"))
true = paddle.to_tensor(np.array([[1.0], [-2.0], [0.5]], "float32"))
y = paddle.matmul(x, true) + 0.3

W = paddle.zeros([3, 1])
W.stop_gradient = False
b = paddle.zeros([1])
b.stop_gradient = False
lr = 0.1

for step in range(6):
    loss = ((paddle.matmul(x, W) + b - y) ** 2).mean()
    loss.backward()
    with paddle.no_grad():
        W = W - lr * W.grad
        b = b - lr * b.grad
    W.stop_gradient = False
    b.stop_gradient = False
    print(step, float(loss))
