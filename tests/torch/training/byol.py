"""A network that predicts its own moving average, after BYOL."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def mlp(dim, hidden, out):
    return nn.Sequential(nn.Linear(dim, hidden), nn.BatchNorm1d(hidden), nn.ReLU(inplace=True), nn.Linear(hidden, out))


online = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), mlp(16, 24, 8))
target = copy.deepcopy(online)
for p in target.parameters():
    p.requires_grad = False
predictor = mlp(8, 16, 8)
opt = torch.optim.Adam([*online.parameters(), *predictor.parameters()], lr=3e-4)


def loss_fn(x, y):
    x = F.normalize(x, dim=-1, p=2)
    y = F.normalize(y, dim=-1, p=2)
    return 2 - 2 * (x * y).sum(dim=-1)


for step in range(4):
    x = torch.randn(16, 12)
    one, two = x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x)
    pred_one, pred_two = predictor(online(one)), predictor(online(two))
    with torch.no_grad():
        target_one, target_two = target(one), target(two)
    loss = (loss_fn(pred_one, target_two.detach()) + loss_fn(pred_two, target_one.detach())).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    for current, ma in zip(online.parameters(), target.parameters()):
        ma.data = 0.99 * ma.data + (1 - 0.99) * current.data
    print(step, loss.item())
