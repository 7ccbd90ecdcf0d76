# about  gradients of four batches that are to be added up, and are cleared in each
# code   GT711
# told   6 of 8 backward passes are cleared before a step goes by them
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(0)
net = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 3))
opt = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())
for batch in range(8):
    loss = F.cross_entropy(net(paddle.randn([8, 10])), paddle.randint(0, 3, [8])) / 4
    loss.backward()
    if batch % 4 == 3:
        opt.step()
    opt.clear_grad()  # right: opt.clear_grad() if batch % 4 == 3 else None
