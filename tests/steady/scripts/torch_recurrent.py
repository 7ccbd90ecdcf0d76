import torch

cell, out = torch.nn.LSTM(5, 6, batch_first=True), torch.nn.Linear(6, 1)
for _ in range(2):
    h, _state = cell(torch.randn(3, 4, 5))
    loss = out(torch.nn.functional.dropout(h, 0.2)).square().mean()
    loss.backward()
