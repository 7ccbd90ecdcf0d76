"""Half of the work in bfloat16."""

# expect: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _step in range(2):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = net(torch.randn(8, 4))
    loss = F.mse_loss(out.float(), torch.randn(8, 1))
    opt.zero_grad()
    loss.backward()
    opt.step()
