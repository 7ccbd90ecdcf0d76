"""A multilayer perceptron on points in 64 dimensions, with validation."""

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(0)
net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
optimizer = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
x = paddle.randn([4096, 64])
y = (x[:, :10] + 0.1 * paddle.randn([4096, 10])).argmax(1)
for epoch in range(10):
    net.train()
    for i in range(0, 3072, 128):
        loss = F.cross_entropy(net(x[i : i + 128]), y[i : i + 128])
        optimizer.clear_grad()
        loss.backward()
        optimizer.step()
    net.eval()
    with paddle.no_grad():
        right = (net(x[3072:]).argmax(1) == y[3072:]).astype("float32").mean()
    print(epoch, loss.item(), right.item())
