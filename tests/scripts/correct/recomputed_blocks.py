# about     every second block is computed again in backward
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle.distributed.fleet.utils import recompute


class Block(nn.Layer):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.fc1, self.fc2 = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        return x + self.drop(self.fc2(F.silu(self.fc1(self.norm(x)))))


class Deep(nn.Layer):
    def __init__(self, d=6, n=6, checkpoint=True):
        super().__init__()
        self.inp = nn.Linear(2, d)
        self.blocks = nn.LayerList(Block(d) for _ in range(n))
        self.head = nn.Linear(d, 1)
        self.checkpoint = checkpoint

    def forward(self, x):
        x = self.inp(x)
        for i, block in enumerate(self.blocks):
            x = recompute(block, x) if self.checkpoint and self.training and i % 2 == 0 else block(x)
        return self.head(x).squeeze(-1)


class Progress:
    """Like tqdm, without the dependency."""

    def __init__(self, it, total):
        self.it, self.total, self.postfix = it, total, {}

    def __iter__(self):
        for i, x in enumerate(self.it):
            yield x
        print("done", self.total, self.postfix)

    def set_postfix(self, **kw):
        self.postfix = kw


def main():
    paddle.seed(0)
    net = Deep()
    opt = paddle.optimizer.Adam(2e-3, parameters=net.parameters())
    bar = Progress(range(5), 5)
    for _ in bar:
        x = paddle.randn([8, 2])
        y = (x[:, 0] * x[:, 1] > 0).astype("float32")
        loss = F.binary_cross_entropy_with_logits(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        bar.set_postfix(loss=round(loss.item(), 4))
    net.eval()
    with paddle.no_grad():
        print(net(paddle.randn([2, 2])).tolist())


main()
