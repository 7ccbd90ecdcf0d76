"""An encoder of two layers that classifies sequences."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(500, 64)
        self.place = nn.Parameter(torch.zeros(32, 64))
        layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(64, 4)

    def forward(self, ids):
        return self.head(self.encoder(self.embed(ids) + self.place).mean(1))


def main():
    model = Classifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    ids, labels = torch.randint(500, (2048, 32)), torch.randint(4, (2048,))
    for i in range(0, 2048, 64):
        loss = F.cross_entropy(model(ids[i : i + 64]), labels[i : i + 64])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
