# symptom  the scorer has no gradient
# cause    the indices of top_k are used, not the values
# command  why scorer.weight
# verdict  non-differentiable op
# line     _, indices = paddle.topk(scorer(x).squeeze(-1), 2)
import paddle
from paddle import nn

scorer, body = nn.Linear(4, 1), nn.Linear(4, 3)
x = paddle.randn([6, 4])
_, indices = paddle.topk(scorer(x).squeeze(-1), 2)
loss = paddle.gather(body(x), indices).square().mean()
loss.backward()
