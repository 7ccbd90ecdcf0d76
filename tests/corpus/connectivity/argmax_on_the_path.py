# symptom  the router is never trained
# cause    argmax has no gradient
# command  why router.weight
# verdict  non-differentiable op
# line     choice = paddle.argmax(router(x), axis=-1)
import paddle
from paddle import nn

router = nn.Linear(4, 3)
experts = nn.Linear(4, 3)
x = paddle.randn([6, 4])
choice = paddle.argmax(router(x), axis=-1)
mask = nn.functional.one_hot(choice, 3)
loss = (experts(x) * mask).sum()
loss.backward()
