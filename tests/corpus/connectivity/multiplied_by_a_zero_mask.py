# symptom  the attention weights do not learn
# cause    the mask is all zeros
# command  why attend.weight
# verdict  zero: multiplied by 0
# line     mask = (paddle.arange(4) < length).astype("float32")
import paddle
from paddle import nn

attend = nn.Linear(4, 4)
x = paddle.randn([5, 4])
length = 0
mask = (paddle.arange(4) < length).astype("float32")
weights = attend(x) * mask
loss = (weights.sum(axis=-1) - 1.0).square().mean()
loss.backward()
