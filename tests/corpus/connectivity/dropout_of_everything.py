# symptom  the branch does not learn
# cause    dropout with p = 1
# command  why branch.weight
# verdict  zero: multiplied by 0
# line     h = nn.functional.dropout(branch(x), p=1.0)
import paddle
from paddle import nn

branch, trunk = nn.Linear(4, 4), nn.Linear(4, 4)
x = paddle.randn([5, 4])
h = nn.functional.dropout(branch(x), p=1.0)
loss = (trunk(x) + h).square().mean()
loss.backward()
