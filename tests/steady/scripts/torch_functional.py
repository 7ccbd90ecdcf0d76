import torch

net, head = torch.nn.Linear(8, 16), torch.nn.Linear(16, 1)
h = torch.nn.functional.dropout(net(torch.randn(12, 8)), 0.5)
loss = head(h).square().mean()
loss.backward()
