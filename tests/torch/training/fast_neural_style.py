"""A transformer of images trained on features of a fixed network, after pytorch/examples fast_neural_style."""
from collections import namedtuple

import torch
from torch import nn
from torch.optim import Adam


class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.slice1 = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU())
        self.slice2 = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(4, 8, 3, padding=1), nn.ReLU())
        for param in self.parameters():
            param.requires_grad = False

    def forward(self, X):
        h1 = self.slice1(X)
        h2 = self.slice2(h1)
        return namedtuple("Outputs", ["relu1", "relu2"])(h1, h2)


class ConvLayer(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride):
        super().__init__()
        self.reflection_pad = nn.ReflectionPad2d(kernel_size // 2)
        self.conv2d = nn.Conv2d(in_channels, out_channels, kernel_size, stride)

    def forward(self, x):
        return self.conv2d(self.reflection_pad(x))


class TransformerNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = ConvLayer(3, 8, 3, 1)
        self.in1 = nn.InstanceNorm2d(8, affine=True)
        self.conv2 = ConvLayer(8, 8, 3, 1)
        self.in2 = nn.InstanceNorm2d(8, affine=True)
        self.conv3 = ConvLayer(8, 3, 3, 1)
        self.relu = nn.ReLU()

    def forward(self, X):
        y = self.relu(self.in1(self.conv1(X)))
        residual = y
        y = self.relu(self.in2(self.conv2(y)))
        y = y + residual
        return self.conv3(y)


def gram_matrix(y):
    b, ch, h, w = y.size()
    features = y.view(b, ch, w * h)
    features_t = features.transpose(1, 2)
    return features.bmm(features_t) / (ch * h * w)


torch.manual_seed(42)
transformer = TransformerNet()
optimizer = Adam(transformer.parameters(), 1e-3)
mse_loss = torch.nn.MSELoss()
vgg = Features()
style = torch.rand(1, 3, 16, 16).repeat(4, 1, 1, 1)
gram_style = [gram_matrix(y) for y in vgg(style)]
for e in range(4):
    transformer.train()
    x = torch.rand(4, 3, 16, 16)
    optimizer.zero_grad()
    y = transformer(x)
    features_y = vgg(y)
    features_x = vgg(x)
    content_loss = 1e2 * mse_loss(features_y.relu2, features_x.relu2)
    style_loss = 0.0
    for ft_y, gm_s in zip(features_y, gram_style):
        gm_y = gram_matrix(ft_y)
        style_loss += mse_loss(gm_y, gm_s[:4, :, :])
    style_loss *= 1e4
    total_loss = content_loss + style_loss
    total_loss.backward()
    optimizer.step()
    print(e, content_loss.item(), style_loss.item())
