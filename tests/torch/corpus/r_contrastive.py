"""Pictures and texts are compared with each other, and a class token stands before the patches of each picture."""

# expect: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F


class Pairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Parameter(torch.randn(1, 1, 8))
        self.body, self.words = nn.Linear(8, 8), nn.Linear(5, 8)

    def forward(self, patches, words):
        h = torch.cat([self.token.expand(len(patches), -1, -1), patches], 1)
        b, t, c = h.shape
        h = torch.tanh(self.body(h.reshape(b * t, c))).reshape(b, t, c).mean(1)
        one, two = F.normalize(h, dim=-1), F.normalize(self.words(words), dim=-1)
        scores, labels = one @ two.t() * 5, torch.arange(b)
        return F.cross_entropy(scores, labels) + F.cross_entropy(scores.t(), labels), scores


torch.manual_seed(0)
net = Pairs()
optimizer = torch.optim.SGD(net.parameters(), 1e-2)
for step in range(2):
    optimizer.zero_grad()
    loss, _ = net(torch.randn(3, 4, 8), torch.randn(3, 5))
    loss.backward()
    optimizer.step()
