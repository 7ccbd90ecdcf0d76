# symptom   none: retain_graph=True at each backward, and a step after it that overwrites what the graph holds
# command   why
import paddle
import paddle.nn as nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for _ in range(3):
    x = paddle.randn([8, 4])
    loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
    loss.backward(retain_graph=True)
    opt.step()
    opt.clear_grad()
