# symptom   the blocks stay as they were initialised
# cause     blocks of several layers are added to a plain list, so parameters() does not list them
# command   why
# verdict   not in parameter_list
# line      self.blocks = []
# affected  net.blocks[0].norm.weight net.blocks[0].norm.bias net.blocks[0].mix.weight net.blocks[0].mix.bias net.blocks[1].norm.weight net.blocks[1].norm.bias net.blocks[1].mix.weight net.blocks[1].mix.bias
import paddle
import paddle.nn.functional as F
from paddle import nn


class Block(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.mix = nn.Linear(width, width)

    def forward(self, x):
        return x + F.gelu(self.mix(self.norm(x)))


class Deep(nn.Layer):
    def __init__(self, width, depth):
        super().__init__()
        self.inp = nn.Linear(4, width)
        self.blocks = []
        for _ in range(depth):
            self.blocks.append(Block(width))
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        x = self.inp(x)
        for block in self.blocks:
            x = block(x)
        return self.out(x)


paddle.seed(0)
net = Deep(8, 2)
optimizer = paddle.optimizer.Adam(0.01, parameters=net.parameters())
x, y = paddle.randn([16, 4]), paddle.randn([16, 1])
for _ in range(3):
    loss = F.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
