"""Layers that are trained one by one, after pytorch/examples mnist_forward_forward."""
import torch
import torch.nn as nn
from torch.optim import Adam


def overlay(x, y):
    x = x.clone()
    x[:, :10] *= 0.0
    x[range(x.shape[0]), y] = x.max()
    return x


class Layer(nn.Linear):
    def __init__(self, in_features, out_features):
        super().__init__(in_features, out_features)
        self.relu = nn.ReLU()
        self.opt = Adam(self.parameters(), lr=0.03)
        self.threshold = 2.0

    def forward(self, x):
        x_direction = x / (x.norm(2, 1, keepdim=True) + 1e-4)
        return self.relu(torch.mm(x_direction, self.weight.T) + self.bias.unsqueeze(0))

    def train_layer(self, x_pos, x_neg):
        for _ in range(3):
            g_pos = self.forward(x_pos).pow(2).mean(1)
            g_neg = self.forward(x_neg).pow(2).mean(1)
            loss = torch.log(1 + torch.exp(torch.cat([-g_pos + self.threshold, g_neg - self.threshold]))).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
        print(loss.item())
        return self.forward(x_pos).detach(), self.forward(x_neg).detach()


torch.manual_seed(0)
layers = [Layer(30, 24), Layer(24, 24)]
x, y = torch.rand(32, 30), torch.randint(0, 10, (32,))
x_pos = overlay(x, y)
x_neg = overlay(x, (y + torch.randint(1, 10, (32,))) % 10)
for layer in layers:
    x_pos, x_neg = layer.train_layer(x_pos, x_neg)
