# symptom  the last layers have no gradient
# cause    the loop over the layers breaks out too early
# command  why layers.2.weight
# verdict  unused in forward
# line     layers = nn.LayerList([nn.Linear(4, 4) for _ in range(3)])
import paddle
from paddle import nn

layers = nn.LayerList([nn.Linear(4, 4) for _ in range(3)])
x = paddle.randn([2, 4])
h = x
for i, layer in enumerate(layers):
    h = paddle.tanh(layer(h))
    if float(h.abs().max()) < 1.0:
        break
loss = h.square().mean()
loss.backward()
