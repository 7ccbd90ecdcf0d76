"""Under no_grad in training mode, as it is meant: masks that are drawn on purpose, labels for a loss, an image."""

# expect: nothing

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), 0.05)
x = torch.randn(8, 4)
for step in range(2):
    model.train()
    unlabelled = torch.randn(8, 4)
    with torch.no_grad():
        guessed = model(unlabelled).softmax(1)
        certain = guessed.max(1).values.mean().item()
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
    loss = loss + nn.functional.cross_entropy(model(unlabelled + 0.1), guessed)
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        of_training = (model(x).argmax(1) == (x[:, 0] > 0)).sum().item()
        shown = model(torch.randn(8, 4)).numpy()
    model.eval()
    model[3].train()
    with torch.no_grad():
        spread = torch.stack([model(torch.randn(8, 4)) for _ in range(3)]).std(0).mean().item()
