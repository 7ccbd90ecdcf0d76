# Attention with minus infinity on the masked positions.
import paddle
from paddle import nn

query, key = nn.Linear(4, 4), nn.Linear(4, 4)
value = nn.Linear(4, 4)
x = paddle.randn([2, 5, 4])
score = query(x) @ key(x).transpose([0, 2, 1]) / 2.0
causal = paddle.triu(paddle.full([5, 5], float("-inf")), diagonal=1)
weights = nn.functional.softmax(score + causal, axis=-1)
loss = (weights @ value(x)).square().mean()
loss.backward()
