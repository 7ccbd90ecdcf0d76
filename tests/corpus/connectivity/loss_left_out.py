# symptom  the regression head does not learn
# cause    its loss is computed and never added
# command  why box.weight
# verdict  used, but no path to the loss
# line     box_loss = (box(h) - target).abs().mean()
import paddle
from paddle import nn

trunk, cls, box = nn.Linear(4, 4), nn.Linear(4, 1), nn.Linear(4, 2)
x, target = paddle.randn([3, 4]), paddle.randn([3, 2])
h = paddle.tanh(trunk(x))
cls_loss = cls(h).square().mean()
box_loss = (box(h) - target).abs().mean()
loss = cls_loss
loss.backward()
