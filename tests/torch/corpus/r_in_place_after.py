"""In place where nobody needs the values."""

# expect: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Linear(4, 4)
h = net(torch.randn(8, 4))
h += 1
h.relu_()
loss = (h * h).mean()
loss.backward()
