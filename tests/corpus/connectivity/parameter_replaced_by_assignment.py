# symptom  w.grad is None in the second step
# cause    w = w - ... makes a new tensor that is no leaf
# command  why w
# verdict  non-leaf, not retained
# exit     3
# line     w = w - 0.1 * w.grad
import paddle

w = paddle.to_tensor([0.5, -0.5], stop_gradient=False)
x, y = paddle.to_tensor([1.0, 3.0]), paddle.to_tensor(0.25)
for step in range(2):
    loss = ((w * x).sum() - y).square()
    loss.backward()
    w = w - 0.1 * w.grad
