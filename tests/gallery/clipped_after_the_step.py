# about  gradients that are clipped when the step has gone by them already
# code   GT712
# told   clips gradients that no step goes by, 3 times
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(0)
net = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 1))
opt = paddle.optimizer.SGD(1e-2, parameters=net.parameters())
for _ in range(3):
    x = paddle.randn([16, 10])
    F.mse_loss(net(x), x.sum(1, keepdim=True)).backward()
    opt.step()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # right: opt.clear_grad()
    opt.clear_grad()
