# symptom  the offset overshoots
# cause    only the layer's gradients are cleared
# command  why offset
# verdict  accumulated over backward calls without clearing
# line     loss.backward()
import paddle
from paddle import nn

net = nn.Linear(4, 1)
offset = paddle.create_parameter([1], "float32")
opt = paddle.optimizer.SGD(0.01, parameters=[*net.parameters(), offset])
x = paddle.randn([8, 4])
for _ in range(3):
    loss = (net(x) + offset - 1.0).square().mean()
    loss.backward()
    opt.step()
    net.clear_gradients()
