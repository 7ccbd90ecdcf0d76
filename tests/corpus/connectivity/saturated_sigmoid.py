# symptom  training does not start
# cause    inputs of 0 to 255 saturate the sigmoid
# command  why fc.weight
# verdict  zero: saturated
# line     p = nn.functional.sigmoid(fc(pixels))
import paddle
from paddle import nn

fc = nn.Linear(4, 2, weight_attr=nn.initializer.Constant(1.0))
pixels = paddle.full([5, 4], 255.0)
p = nn.functional.sigmoid(fc(pixels))
loss = (p - 0.5).square().mean()
loss.backward()
