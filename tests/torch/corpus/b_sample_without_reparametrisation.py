"""A variational encoder draws with sample(), which computes under no_grad, and not with rsample()."""

# expect: NO_GRAD net.encoder.weight at line 18

import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.mean, self.spread = nn.Linear(6, 8), nn.Linear(8, 2), nn.Linear(8, 2)
        self.decoder = nn.Linear(2, 6)

    def forward(self, x):
        h = torch.relu(self.encoder(x))
        z = torch.distributions.Normal(self.mean(h), torch.exp(self.spread(h))).sample()
        return torch.sigmoid(self.decoder(z))


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _step in range(2):
    x = torch.rand(8, 6)
    loss = F.binary_cross_entropy(net(x), x)
    opt.zero_grad()
    loss.backward()
    opt.step()
