# about  gradients of more batches than there are, added up for a step that never comes
# code   GT702
# told   makes no step, and 8 passes add to their gradients
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
opt = paddle.optimizer.Adam(1e-2, parameters=net.parameters())  # here
x, y = paddle.randn([8, 6]), paddle.to_tensor([0, 1, 2, 0, 1, 2, 0, 1])
for _ in range(2):
    for i in range(4):
        (F.cross_entropy(net(x[2 * i : 2 * i + 2]), y[2 * i : 2 * i + 2]) / 4).backward()
        if (i + 1) % 16 == 0:  # right: if (i + 1) % 4 == 0:
            opt.step()
            opt.clear_grad()
