"""A recurrent layer reads as many steps as there are samples, steps first."""

# expect: nothing

import torch
from torch import nn

torch.manual_seed(0)


class Rows(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 6, batch_first=True)
        self.head = nn.Linear(6, 3)

    def forward(self, x):
        output, _ = self.rnn(x.reshape(-1, 5, 4))
        return self.head(output[:, -1])


net = Rows()
opt = torch.optim.Adam(net.parameters(), 0.01)
images, labels = torch.rand(10, 1, 5, 4), torch.randint(0, 3, (10,))
for start in range(0, 10, 5):
    loss = nn.functional.cross_entropy(net(images[start : start + 5]), labels[start : start + 5])
    opt.zero_grad()
    loss.backward()
    opt.step()
