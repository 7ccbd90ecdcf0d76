"""Denoising diffusion with an average of the weights, after denoising-diffusion-pytorch."""
import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class SinusoidalPosEmb(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        half_dim = self.dim // 2
        emb = math.log(10000) / (half_dim - 1)
        emb = torch.exp(torch.arange(half_dim) * -emb)
        emb = x[:, None] * emb[None, :]
        return torch.cat((emb.sin(), emb.cos()), dim=-1)


class ResnetBlock(nn.Module):
    def __init__(self, dim, dim_out, time_dim):
        super().__init__()
        self.mlp = nn.Sequential(nn.SiLU(), nn.Linear(time_dim, dim_out * 2))
        self.block1 = nn.Conv2d(dim, dim_out, 3, padding=1)
        self.norm = nn.GroupNorm(2, dim_out)
        self.block2 = nn.Conv2d(dim_out, dim_out, 3, padding=1)
        self.res_conv = nn.Conv2d(dim, dim_out, 1) if dim != dim_out else nn.Identity()

    def forward(self, x, t):
        scale, shift = self.mlp(t)[:, :, None, None].chunk(2, dim=1)
        h = self.norm(self.block1(x)) * (scale + 1) + shift
        h = self.block2(F.silu(h))
        return h + self.res_conv(x)


class Unet(nn.Module):
    def __init__(self, dim=4):
        super().__init__()
        self.time = nn.Sequential(SinusoidalPosEmb(8), nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 16))
        self.init_conv = nn.Conv2d(1, dim, 3, padding=1)
        self.down = ResnetBlock(dim, dim * 2, 16)
        self.pool = nn.Conv2d(dim * 2, dim * 2, 4, 2, 1)
        self.mid = ResnetBlock(dim * 2, dim * 2, 16)
        self.up = nn.Sequential(nn.Upsample(scale_factor=2, mode="nearest"), nn.Conv2d(dim * 2, dim * 2, 3, padding=1))
        self.final = ResnetBlock(dim * 4, dim, 16)
        self.out = nn.Conv2d(dim, 1, 1)

    def forward(self, x, time):
        t = self.time(time)
        x = self.init_conv(x)
        h = self.down(x, t)
        x = self.mid(self.pool(h), t)
        x = torch.cat((self.up(x), h), dim=1)
        return self.out(self.final(x, t))


class GaussianDiffusion(nn.Module):
    def __init__(self, model, timesteps=20):
        super().__init__()
        self.model = model
        betas = torch.linspace(1e-4, 0.02, timesteps)
        alphas_cumprod = torch.cumprod(1.0 - betas, dim=0)
        self.num_timesteps = timesteps
        self.register_buffer("sqrt_alphas_cumprod", alphas_cumprod.sqrt())
        self.register_buffer("sqrt_one_minus", (1.0 - alphas_cumprod).sqrt())

    def q_sample(self, x_start, t, noise):
        shape = (-1, 1, 1, 1)
        return self.sqrt_alphas_cumprod[t].view(shape) * x_start + self.sqrt_one_minus[t].view(shape) * noise

    def forward(self, img):
        t = torch.randint(0, self.num_timesteps, (img.shape[0],)).long()
        noise = torch.randn_like(img)
        model_out = self.model(self.q_sample(img, t, noise), t)
        loss = F.mse_loss(model_out, noise, reduction="none")
        return loss.mean(dim=(1, 2, 3)).mean()


torch.manual_seed(0)
diffusion = GaussianDiffusion(Unet())
opt = torch.optim.Adam(diffusion.parameters(), lr=8e-5, betas=(0.9, 0.99))
ema = copy.deepcopy(diffusion).requires_grad_(False)
for step in range(4):
    total_loss = 0.0
    for _ in range(2):
        loss = diffusion(torch.rand(4, 1, 8, 8) * 2 - 1)
        loss = loss / 2
        total_loss += loss.item()
        loss.backward()
    nn.utils.clip_grad_norm_(diffusion.parameters(), 1.0)
    opt.step()
    opt.zero_grad()
    with torch.no_grad():
        for current, averaged in zip(diffusion.parameters(), ema.parameters()):
            averaged.lerp_(current, 0.005)
    print(step, total_loss)
