"""Classes as means of embeddings, after prototypical networks."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
encoder = nn.Sequential(
    nn.Conv2d(1, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(6, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
)
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
n_way, n_support, n_query = 3, 2, 4


def euclidean_dist(x, y):
    n, m, d = x.size(0), y.size(0), x.size(1)
    x = x.unsqueeze(1).expand(n, m, d)
    y = y.unsqueeze(0).expand(n, m, d)
    return torch.pow(x - y, 2).sum(2)


for epoch in range(3):
    encoder.train()
    for episode in range(2):
        xs, xq = torch.rand(n_way, n_support, 1, 8, 8), torch.rand(n_way, n_query, 1, 8, 8)
        target_inds = torch.arange(0, n_way).view(n_way, 1, 1).expand(n_way, n_query, 1).long()
        x = torch.cat([xs.view(n_way * n_support, 1, 8, 8), xq.view(n_way * n_query, 1, 8, 8)], 0)
        z = encoder(x)
        z_proto = z[: n_way * n_support].view(n_way, n_support, -1).mean(1)
        zq = z[n_way * n_support :]
        dists = euclidean_dist(zq, z_proto)
        log_p_y = F.log_softmax(-dists, dim=1).view(n_way, n_query, -1)
        loss_val = -log_p_y.gather(2, target_inds).squeeze().view(-1).mean()
        optimizer.zero_grad()
        loss_val.backward()
        optimizer.step()
    scheduler.step()
    print(epoch, loss_val.item())
