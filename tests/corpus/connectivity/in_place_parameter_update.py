# symptom  the second backward raises
# cause    weights are overwritten while a graph needs them
# command  why --error
# verdict  overwritten in place
# line     w.set_value(w - 0.1 * w.grad)
import paddle

w = paddle.to_tensor([1.0, -2.0], stop_gradient=False)
x = paddle.to_tensor([3.0, 4.0])
x.stop_gradient = False
loss = (w * x).square().sum()
loss.backward(retain_graph=True)
w.set_value(w - 0.1 * w.grad)
loss.backward()
