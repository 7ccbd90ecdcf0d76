# Half of the units are off, as relu has it.
import paddle
from paddle import nn

net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
loss = net(paddle.randn([32, 4])).square().mean()
loss.backward()
