# symptom  steps.grad is None
# cause    the leaf was made of Python ints
# command  why steps
# verdict  integer dtype
# line     steps = paddle.to_tensor([1, 2, 3], stop_gradient=False)
import paddle

steps = paddle.to_tensor([1, 2, 3], stop_gradient=False)
w = paddle.to_tensor([0.1, 0.2, 0.3], stop_gradient=False)
loss = (w * steps.astype("float32")).sum()
loss.backward()
