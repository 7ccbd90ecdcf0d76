"""Images from images with skips and a conditional discriminator, after pix2pix."""
import torch
import torch.nn as nn


class UnetSkip(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1 = nn.Conv2d(3, 6, 4, 2, 1)
        self.down2 = nn.Sequential(nn.LeakyReLU(0.2), nn.Conv2d(6, 12, 4, 2, 1), nn.BatchNorm2d(12))
        self.up1 = nn.Sequential(nn.ReLU(), nn.ConvTranspose2d(12, 6, 4, 2, 1), nn.BatchNorm2d(6), nn.Dropout(0.5))
        self.up2 = nn.Sequential(nn.ReLU(), nn.ConvTranspose2d(12, 3, 4, 2, 1), nn.Tanh())

    def forward(self, x):
        d1 = self.down1(x)
        d2 = self.down2(d1)
        u1 = self.up1(d2)
        return self.up2(torch.cat([u1, d1], 1))


torch.manual_seed(0)
netG = UnetSkip()
netD = nn.Sequential(nn.Conv2d(6, 6, 4, 2, 1), nn.LeakyReLU(0.2, True), nn.Conv2d(6, 1, 4, 1, 1))
criterionGAN, criterionL1 = nn.BCEWithLogitsLoss(), nn.L1Loss()
optimizer_G = torch.optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizer_D = torch.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
for step in range(4):
    real_A, real_B = torch.rand(2, 3, 8, 8) * 2 - 1, torch.rand(2, 3, 8, 8) * 2 - 1
    fake_B = netG(real_A)
    for p in netD.parameters():
        p.requires_grad = True
    optimizer_D.zero_grad()
    pred_fake = netD(torch.cat((real_A, fake_B), 1).detach())
    pred_real = netD(torch.cat((real_A, real_B), 1))
    loss_D = (criterionGAN(pred_fake, torch.zeros_like(pred_fake)) + criterionGAN(pred_real, torch.ones_like(pred_real))) * 0.5
    loss_D.backward()
    optimizer_D.step()
    for p in netD.parameters():
        p.requires_grad = False
    optimizer_G.zero_grad()
    pred_fake = netD(torch.cat((real_A, fake_B), 1))
    loss_G = criterionGAN(pred_fake, torch.ones_like(pred_fake)) + criterionL1(fake_B, real_B) * 100.0
    loss_G.backward()
    optimizer_G.step()
    print(step, loss_D.item(), loss_G.item())
