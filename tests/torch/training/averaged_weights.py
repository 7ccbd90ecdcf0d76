"""Stochastic weight averaging with batch norm updated afterwards."""
import torch
import torch.nn as nn
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(32, 8)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
swa_model = AveragedModel(model)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
swa_start, swa_scheduler = 2, SWALR(optimizer, swa_lr=0.01)
for epoch in range(4):
    model.train()
    for input, target in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(input), target)
        loss.backward()
        optimizer.step()
    if epoch >= swa_start:
        swa_model.update_parameters(model)
        swa_scheduler.step()
    else:
        scheduler.step()
    print(epoch, loss.item())
update_bn(loader, swa_model)
swa_model.eval()
with torch.no_grad():
    print(nn.functional.mse_loss(swa_model(x), x.sum(1, keepdim=True)).item())
