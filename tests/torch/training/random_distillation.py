"""Curiosity by a fixed random network, after CleanRL's ppo_rnd."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class RNDModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.predictor = nn.Sequential(nn.Linear(6, 16), nn.LeakyReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 8))
        self.target = nn.Sequential(nn.Linear(6, 16), nn.LeakyReLU(), nn.Linear(16, 8))
        for param in self.target.parameters():
            param.requires_grad = False

    def forward(self, next_obs):
        target_feature = self.target(next_obs)
        predict_feature = self.predictor(next_obs)
        return predict_feature, target_feature


model = RNDModel()
optimizer = torch.optim.Adam(model.predictor.parameters(), lr=1e-3)
for step in range(5):
    next_obs = torch.randn(32, 6).clip(-5, 5)
    predict_next_feature, target_next_feature = model(next_obs)
    forward_loss = F.mse_loss(predict_next_feature, target_next_feature.detach(), reduction="none").mean(-1)
    mask = torch.rand(len(forward_loss))
    mask = (mask < 0.5).type(torch.FloatTensor)
    forward_loss = (forward_loss * mask).sum() / torch.max(mask.sum(), torch.tensor([1.0]))
    optimizer.zero_grad()
    forward_loss.backward()
    optimizer.step()
    print(step, forward_loss.item())
