"""A branch is skipped, and DistributedDataParallel waits for its gradients."""

# expect: UNUSED model.module.other.weight at line 19

import os
import tempfile

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.head = nn.Linear(8, 1)
        self.other = nn.Linear(4, 8)

    def forward(self, x):
        h = self.body(x) if x.shape[0] > 4 else self.other(x)
        return self.head(torch.tanh(h))


torch.manual_seed(0)
store = os.path.join(tempfile.mkdtemp(), "store")
dist.init_process_group("gloo", init_method=f"file://{store}", rank=0, world_size=1)
net = Net()
model = nn.parallel.DistributedDataParallel(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
try:
    for _step in range(2):
        x, y = torch.randn(8, 4), torch.randn(8, 1)
        opt.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        opt.step()
finally:
    dist.destroy_process_group()
