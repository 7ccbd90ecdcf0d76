"""Blocks that are computed again in the backward pass, and hooks that read activations."""
import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(d), nn.Linear(d, 2 * d), nn.Linear(2 * d, d)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        return x + self.drop(self.down(torch.relu(self.up(self.norm(x)))))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.head = nn.Linear(6, 12), nn.Linear(12, 3)
        self.blocks = nn.ModuleList([Block(12) for _ in range(2)])
        self.tail = nn.Sequential(Block(12), Block(12))

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.training else block(x)
        x = checkpoint_sequential(self.tail, 2, x, use_reentrant=False)
        return self.head(x)


torch.manual_seed(0)
net, activations, norms = Net(), {}, []
net.head.register_forward_hook(lambda module, args, output: activations.update(head=output.detach()))
net.stem.weight.register_hook(lambda g: norms.append(g.norm().item()))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
for step in range(3):
    x = torch.randn(8, 6)
    loss = nn.functional.cross_entropy(net(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), activations["head"].mean().item(), norms[-1])
