"""Averages of weights, kept in each of the ways that people write them, and looked at without gradients."""

# expect: nothing

import copy

import torch
import torch.nn as nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn, update_bn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8, bias=False), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
swa = AveragedModel(net)
ema = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.9))
by_data, by_lerp, by_state, at_once, by_views = (copy.deepcopy(net) for _ in range(5))
opt = torch.optim.Adam(net.parameters(), 0.01)
data = [(torch.randn(16, 4), torch.randn(16, 1)) for _ in range(2)]
for epoch in range(3):
    for x, y in data:
        opt.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        opt.step()
        ema.update_parameters(net)
        for a, p in zip(by_data.parameters(), net.parameters()):
            a.data.mul_(0.9).add_(p.data, alpha=0.1)
        for a, p in zip(by_lerp.parameters(), net.parameters()):
            a.detach().lerp_(p.detach(), 0.1)
        for a, p in zip(by_views.parameters(), net.parameters()):
            a.detach().view(-1)[:].lerp_(p.detach().view(-1), 0.1)
        for a, p in zip(by_state.state_dict().values(), net.state_dict().values()):
            a.copy_(p)
        torch._foreach_lerp_([a.detach() for a in at_once.parameters()], [p.detach() for p in net.parameters()], 0.1)
    swa.update_parameters(net)
    with torch.no_grad():
        print([f"{((m(x) - y) ** 2).mean():.4f}" for m in (ema, by_data, by_lerp, by_views, by_state, at_once)])
update_bn([x for x, _ in data], swa)
swa.eval()
with torch.no_grad():
    print(f"{((swa(x) - y) ** 2).mean():.4f}")
