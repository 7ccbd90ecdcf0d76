# symptom  the auxiliary head does not learn
# cause    its weight in the loss is 0
# command  why aux.weight
# verdict  zero: multiplied by 0
# line     loss = main(x).square().mean() + alpha * aux(x).square().mean()
import paddle
from paddle import nn

main, aux = nn.Linear(4, 1), nn.Linear(4, 1)
x = paddle.randn([5, 4])
alpha = 0.0
loss = main(x).square().mean() + alpha * aux(x).square().mean()
loss.backward()
