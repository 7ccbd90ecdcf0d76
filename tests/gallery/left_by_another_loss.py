# about  what a generator's loss leaves in a discriminator's gradients
# code   GT710
# told   also go by what another backward call has left
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(0)
g = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
d = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
of_g = paddle.optimizer.Adam(1e-3, parameters=g.parameters())
of_d = paddle.optimizer.Adam(1e-3, parameters=d.parameters())
loss = F.binary_cross_entropy_with_logits
one, zero = paddle.ones([8, 1]), paddle.zeros([8, 1])
for _ in range(4):
    real, fake = paddle.randn([8, 2]), g(paddle.randn([8, 4]))
    (loss(d(real), one) + loss(d(fake.detach()), zero)).backward()
    of_d.step()  # here
    of_d.clear_grad()
    loss(d(fake), one).backward()
    of_g.step()
    of_g.clear_grad()  # right: of_g.clear_grad(), of_d.clear_grad()
