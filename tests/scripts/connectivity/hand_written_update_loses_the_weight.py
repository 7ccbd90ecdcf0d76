# symptom   the second step fails to change w: its gradient is None
# cause     the new w is made under no_grad and never made to want a gradient again
# command   why
# verdict   stop_gradient
# line      w = w - 0.1 * w.grad
# affected  w
import paddle

x = paddle.linspace(-1, 1, 20).reshape([-1, 1])
y = 3 * x + 0.5
w = paddle.zeros([1, 1])
w.stop_gradient = False
b = paddle.zeros([1])
b.stop_gradient = False
for step in range(3):
    loss = ((x @ w + b - y) ** 2).mean()
    loss.backward()
    if w.grad is None:
        print("step", step, "w has no gradient")
        break
    with paddle.no_grad():
        w = w - 0.1 * w.grad
        b = b - 0.1 * b.grad
    b.stop_gradient = False
