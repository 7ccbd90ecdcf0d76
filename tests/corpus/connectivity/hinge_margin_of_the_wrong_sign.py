# symptom  the ranking loss trains nothing
# cause    the margin is subtracted, so every pair is satisfied
# command  why rank.weight
# verdict  zero: dead relu
# line     hinge = nn.functional.relu(negative - positive - 100.0)
import paddle
from paddle import nn

rank, cls = nn.Linear(4, 1), nn.Linear(4, 1)
x, y = paddle.randn([6, 4]), paddle.randn([6, 4])
positive, negative = rank(x), rank(y)
hinge = nn.functional.relu(negative - positive - 100.0)
loss = hinge.mean() + cls(x).square().mean()
loss.backward()
