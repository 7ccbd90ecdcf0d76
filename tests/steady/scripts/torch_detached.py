import torch

body, head = torch.nn.Linear(8, 16), torch.nn.Linear(16, 1)
for _ in range(3):
    h = torch.nn.functional.dropout(torch.relu(body(torch.randn(12, 8))), 0.3).detach()
    loss = head(h).square().mean()
    loss.backward()
