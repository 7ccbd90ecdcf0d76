"""Clicks from fields with factors and a deep part, after pytorch-fm."""
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)


class FeaturesEmbedding(nn.Module):
    def __init__(self, field_dims, embed_dim):
        super().__init__()
        self.embedding = nn.Embedding(sum(field_dims), embed_dim)
        self.offsets = np.array((0, *np.cumsum(field_dims)[:-1]), dtype=np.int64)
        nn.init.xavier_uniform_(self.embedding.weight.data)

    def forward(self, x):
        x = x + x.new_tensor(self.offsets).unsqueeze(0)
        return self.embedding(x)


class DeepFM(nn.Module):
    def __init__(self, field_dims, embed_dim=4):
        super().__init__()
        self.linear = FeaturesEmbedding(field_dims, 1)
        self.bias = nn.Parameter(torch.zeros((1,)))
        self.embedding = FeaturesEmbedding(field_dims, embed_dim)
        self.mlp = nn.Sequential(
            nn.Linear(len(field_dims) * embed_dim, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 1)
        )

    def forward(self, x):
        embed_x = self.embedding(x)
        square_of_sum = torch.sum(embed_x, dim=1) ** 2
        sum_of_square = torch.sum(embed_x**2, dim=1)
        fm = 0.5 * torch.sum(square_of_sum - sum_of_square, dim=1, keepdim=True)
        x = torch.sum(self.linear(x), dim=1) + self.bias + fm + self.mlp(embed_x.flatten(1))
        return torch.sigmoid(x.squeeze(1))


model = DeepFM([6, 5, 8])
criterion = nn.BCELoss()
optimizer = torch.optim.Adam(params=model.parameters(), lr=1e-3, weight_decay=1e-6)
for step in range(5):
    model.train()
    fields = torch.stack([torch.randint(0, d, (24,)) for d in (6, 5, 8)], 1)
    target = (torch.rand(24) < 0.4).float()
    y = model(fields)
    loss = criterion(y, target)
    model.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
