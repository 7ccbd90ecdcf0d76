"""Tasks weighted by their uncertainty, after Kendall."""
import torch
import torch.nn as nn

torch.manual_seed(0)


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Dropout(0.1), nn.Linear(24, 16), nn.ReLU())
        self.classes = nn.Linear(16, 4)
        self.depth = nn.Linear(16, 1)
        self.log_vars = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        h = self.shared(x)
        return self.classes(h), self.depth(h).squeeze(-1)


model = MultiTask()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
ce, l1 = nn.CrossEntropyLoss(), nn.L1Loss()
for step in range(5):
    x, labels, depth = torch.randn(16, 10), torch.randint(0, 4, (16,)), torch.rand(16)
    scores, predicted = model(x)
    task_losses = torch.stack([ce(scores, labels), l1(predicted, depth)])
    loss = (torch.exp(-model.log_vars) * task_losses + model.log_vars).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), [round(v, 4) for v in task_losses.tolist()])
