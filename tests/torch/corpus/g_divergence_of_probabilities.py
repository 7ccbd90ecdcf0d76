"""A divergence takes logarithms, and is given probabilities."""

# expect: nothing
# rules: GT708 at line 16

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
student, teacher = nn.Linear(10, 5), nn.Linear(10, 5)
teacher.requires_grad_(False)
opt = torch.optim.Adam(student.parameters(), lr=1e-3)
for _ in range(4):
    x = torch.randn(32, 10)
    loss = F.kl_div(F.softmax(student(x), dim=1), F.softmax(teacher(x), dim=1), reduction="batchmean")
    opt.zero_grad()
    loss.backward()
    opt.step()
