"""Anchors with hard negatives, after small SSD implementations."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class SSD(nn.Module):
    def __init__(self, anchors=2, classes=4):
        super().__init__()
        self.classes = classes
        self.base = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 12, 3, 2, 1), nn.ReLU())
        self.extra = nn.Sequential(nn.Conv2d(12, 12, 3, 2, 1), nn.ReLU())
        self.loc = nn.ModuleList([nn.Conv2d(12, anchors * 4, 3, 1, 1) for _ in range(2)])
        self.conf = nn.ModuleList([nn.Conv2d(12, anchors * classes, 3, 1, 1) for _ in range(2)])

    def forward(self, x):
        sources = [self.base(x)]
        sources.append(self.extra(sources[-1]))
        loc, conf = [], []
        for source, l, c in zip(sources, self.loc, self.conf):
            loc.append(l(source).permute(0, 2, 3, 1).contiguous().view(x.size(0), -1))
            conf.append(c(source).permute(0, 2, 3, 1).contiguous().view(x.size(0), -1))
        loc, conf = torch.cat(loc, 1), torch.cat(conf, 1)
        return loc.view(x.size(0), -1, 4), conf.view(x.size(0), -1, self.classes)


def multibox_loss(loc_data, conf_data, loc_t, conf_t, negpos_ratio=3):
    pos = conf_t > 0
    pos_idx = pos.unsqueeze(pos.dim()).expand_as(loc_data)
    loss_l = F.smooth_l1_loss(loc_data[pos_idx].view(-1, 4), loc_t[pos_idx].view(-1, 4), reduction="sum")
    with torch.no_grad():
        loss_c = F.cross_entropy(conf_data.reshape(-1, 4), conf_t.reshape(-1), reduction="none").view(pos.shape)
        loss_c[pos] = 0
        _, loss_idx = loss_c.sort(1, descending=True)
        _, idx_rank = loss_idx.sort(1)
        num_neg = torch.clamp(negpos_ratio * pos.long().sum(1, keepdim=True), max=pos.size(1) - 1)
        neg = idx_rank < num_neg.expand_as(idx_rank)
    loss_c = F.cross_entropy(conf_data[pos | neg], conf_t[pos | neg], reduction="sum")
    N = pos.long().sum().clamp(min=1)
    return loss_l / N, loss_c / N


net = SSD()
optimizer = torch.optim.SGD(net.parameters(), lr=1e-2, momentum=0.9, weight_decay=5e-4)
for iteration in range(4):
    images = torch.rand(4, 3, 16, 16)
    loc, conf = net(images)
    conf_t = torch.where(torch.rand(conf.shape[:2]) < 0.1, torch.randint(1, 4, conf.shape[:2]), 0)
    loc_t = torch.randn_like(loc)
    optimizer.zero_grad()
    loss_l, loss_c = multibox_loss(loc, conf, loc_t, conf_t)
    loss = loss_l + loss_c
    loss.backward()
    optimizer.step()
    print(iteration, loss_l.item(), loss_c.item())
