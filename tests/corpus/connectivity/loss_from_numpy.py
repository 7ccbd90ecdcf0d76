# symptom  backward does nothing and warns
# cause    the loss is computed in NumPy
# command  why
# verdict  detached
# line     error = (net(x).numpy() - y.numpy()) ** 2
import paddle
from paddle import nn

net = nn.Linear(3, 1)
x, y = paddle.randn([5, 3]), paddle.randn([5, 1])
error = (net(x).numpy() - y.numpy()) ** 2
loss = paddle.to_tensor(error.mean(), stop_gradient=False)
loss.backward()
