import torch

net = torch.nn.Linear(8, 4)
loss = torch.nn.functional.dropout(net(torch.randn(12, 8)), 1.0).square().mean()
loss.backward()
