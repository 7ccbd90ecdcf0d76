# symptom  the second backward raises
# cause    two losses share a part that the first backward frees
# command  why --error
# verdict  freed graph
# line     first.backward()
import paddle
from paddle import nn

trunk = nn.Linear(4, 4)
a, b = nn.Linear(4, 1), nn.Linear(4, 1)
h = paddle.tanh(trunk(paddle.randn([3, 4])))
first = a(h).mean()
second = b(h).mean()
first.backward()
second.backward()
