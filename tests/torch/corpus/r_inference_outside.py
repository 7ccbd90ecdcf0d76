"""What is trained is computed outside of inference_mode; what it gives to the log, inside."""

# expect: nothing

import torch

net = torch.nn.Linear(3, 1)
body = torch.nn.Linear(3, 3)
x = torch.randn(4, 3)
features = body(x)
loss = net(features.clone()).square().sum()
loss.backward()
with torch.inference_mode():
    size = body(x).abs().mean()
