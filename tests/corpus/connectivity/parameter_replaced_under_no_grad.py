# symptom  the second backward warns and does nothing
# cause    under no_grad, w = w - ... makes a tensor that stops gradients
# command  why w
# verdict  computed under no_grad
# exit     3
# line     w = w - 0.1 * w.grad
import paddle

w = paddle.to_tensor([0.5, -0.5], stop_gradient=False)
x = paddle.to_tensor([1.0, 2.0])
for step in range(2):
    loss = (w * x).sum().square()
    loss.backward()
    if step == 0:
        with paddle.no_grad():
            w = w - 0.1 * w.grad
