"""Two generators and two discriminators with a pool of images, after pytorch-CycleGAN."""
import itertools
import random

import torch
import torch.nn as nn

torch.manual_seed(0)
random.seed(0)


def set_requires_grad(nets, requires_grad=False):
    for net in nets:
        for param in net.parameters():
            param.requires_grad = requires_grad


class ImagePool:
    def __init__(self, pool_size):
        self.pool_size, self.images = pool_size, []

    def query(self, images):
        return_images = []
        for image in images:
            image = torch.unsqueeze(image.data, 0)
            if len(self.images) < self.pool_size:
                self.images.append(image)
                return_images.append(image)
            elif random.uniform(0, 1) > 0.5:
                i = random.randint(0, self.pool_size - 1)
                return_images.append(self.images[i].clone())
                self.images[i] = image
            else:
                return_images.append(image)
        return torch.cat(return_images, 0)


def generator():
    return nn.Sequential(nn.Conv2d(3, 6, 3, 1, 1), nn.InstanceNorm2d(6), nn.ReLU(True), nn.Conv2d(6, 3, 3, 1, 1), nn.Tanh())


def discriminator():
    return nn.Sequential(nn.Conv2d(3, 6, 4, 2, 1), nn.LeakyReLU(0.2, True), nn.Conv2d(6, 1, 4, 1, 1))


netG_A, netG_B, netD_A, netD_B = generator(), generator(), discriminator(), discriminator()
fake_A_pool, fake_B_pool = ImagePool(6), ImagePool(6)
criterionGAN, criterionCycle, criterionIdt = nn.MSELoss(), nn.L1Loss(), nn.L1Loss()
optimizer_G = torch.optim.Adam(itertools.chain(netG_A.parameters(), netG_B.parameters()), lr=2e-4, betas=(0.5, 0.999))
optimizer_D = torch.optim.Adam(itertools.chain(netD_A.parameters(), netD_B.parameters()), lr=2e-4, betas=(0.5, 0.999))


def gan_loss(prediction, target_is_real):
    return criterionGAN(prediction, torch.tensor(1.0 if target_is_real else 0.0).expand_as(prediction))


def backward_D_basic(netD, real, fake):
    pred_real = netD(real)
    loss_D_real = gan_loss(pred_real, True)
    pred_fake = netD(fake.detach())
    loss_D_fake = gan_loss(pred_fake, False)
    loss_D = (loss_D_real + loss_D_fake) * 0.5
    loss_D.backward()
    return loss_D


for step in range(3):
    real_A, real_B = torch.rand(2, 3, 8, 8) * 2 - 1, torch.rand(2, 3, 8, 8) * 2 - 1
    fake_B = netG_A(real_A)
    rec_A = netG_B(fake_B)
    fake_A = netG_B(real_B)
    rec_B = netG_A(fake_A)
    set_requires_grad([netD_A, netD_B], False)
    optimizer_G.zero_grad()
    loss_idt = criterionIdt(netG_A(real_B), real_B) * 5 + criterionIdt(netG_B(real_A), real_A) * 5
    loss_G = gan_loss(netD_A(fake_B), True) + gan_loss(netD_B(fake_A), True)
    loss_G = loss_G + criterionCycle(rec_A, real_A) * 10 + criterionCycle(rec_B, real_B) * 10 + loss_idt
    loss_G.backward()
    optimizer_G.step()
    set_requires_grad([netD_A, netD_B], True)
    optimizer_D.zero_grad()
    loss_D_A = backward_D_basic(netD_A, real_B, fake_B_pool.query(fake_B))
    loss_D_B = backward_D_basic(netD_B, real_A, fake_A_pool.query(fake_A))
    optimizer_D.step()
    print(step, loss_G.item(), loss_D_A.item(), loss_D_B.item())
