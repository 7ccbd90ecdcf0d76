"""Features are computed under inference_mode, and their clone is used."""

# expect: NO_GRAD body.weight at line 8

import torch
net = torch.nn.Linear(3, 1)
body = torch.nn.Linear(3, 3)
with torch.inference_mode():
    features = body(torch.randn(4, 3))
loss = net(features.clone()).sum()
loss.backward()
