# symptom  the layer under batch_norm does not learn
# cause    the mean of a normalised batch is its bias
# command  why fc.weight
# verdict  zero: cancellation
# line     h = norm(fc(x))
import paddle
from paddle import nn

fc = nn.Linear(4, 6)
norm = nn.BatchNorm1D(6)
x = paddle.randn([32, 4])
h = norm(fc(x))
loss = h.mean()
loss.backward()
