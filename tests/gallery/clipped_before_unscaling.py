# about  gradients that are clipped before the scale of the loss is taken out of them
# code   GT709
# told   1024 times as large as they are meant
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
opt = paddle.optimizer.Momentum(1e-2, parameters=net.parameters())
scaler = paddle.amp.GradScaler(init_loss_scaling=1024)
x, y = paddle.randn([8, 6]), paddle.to_tensor([0, 1, 2, 0, 1, 2, 0, 1])
for _ in range(3):
    with paddle.amp.auto_cast():
        loss = F.cross_entropy(net(x), y)
    scaler.scale(loss).backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # right: scaler.unscale_(opt)
    scaler.step(opt)
    scaler.update()
    opt.clear_grad()
