# about  a validation after which nobody calls train()
# code   GT707
# told   2 of 3 steps of Adam are taken in evaluation mode
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1D(16), nn.ReLU(), nn.Linear(16, 3))
opt = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
x, y = paddle.randn([8, 6]), paddle.to_tensor([0, 1, 2, 0, 1, 2, 0, 1])
for _ in range(3):
    net.sublayers()  # right: net.train()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
    net.eval()  # here
    with paddle.no_grad():
        accuracy = (net(x).argmax(axis=1) == y).astype("float32").mean()
