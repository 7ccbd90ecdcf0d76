# symptom  the hand-written descent diverges
# cause    gradients are added up over the steps
# command  why w
# verdict  accumulated over backward calls without clearing
# line     loss.backward()
import paddle

w = paddle.to_tensor([2.0, -1.0], stop_gradient=False)
target = paddle.to_tensor([0.5, 0.5])
for _ in range(4):
    loss = (w - target).square().sum()
    loss.backward()
    with paddle.no_grad():
        w.set_value(w - 0.1 * w.grad)
