"""A generator of labelled samples, after PyTorch-GAN's cgan."""
import numpy as np
import torch
import torch.nn as nn


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.label_emb = nn.Embedding(5, 5)
        self.model = nn.Sequential(
            nn.Linear(6 + 5, 16), nn.BatchNorm1d(16, 0.8), nn.LeakyReLU(0.2, inplace=True), nn.Linear(16, 9), nn.Tanh()
        )

    def forward(self, noise, labels):
        gen_input = torch.cat((self.label_emb(labels), noise), -1)
        img = self.model(gen_input)
        return img.view(img.size(0), 1, 3, 3)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.label_embedding = nn.Embedding(5, 5)
        self.model = nn.Sequential(nn.Linear(5 + 9, 16), nn.LeakyReLU(0.2, inplace=True), nn.Dropout(0.4), nn.Linear(16, 1))

    def forward(self, img, labels):
        d_in = torch.cat((img.view(img.size(0), -1), self.label_embedding(labels)), -1)
        return self.model(d_in)


torch.manual_seed(0)
np.random.seed(0)
adversarial_loss = torch.nn.MSELoss()
generator, discriminator = Generator(), Discriminator()
optimizer_G = torch.optim.Adam(generator.parameters(), lr=0.0002, betas=(0.5, 0.999))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=0.0002, betas=(0.5, 0.999))
for i in range(4):
    real_imgs, labels = torch.rand(12, 1, 3, 3), torch.randint(0, 5, (12,))
    valid, fake = torch.ones(12, 1), torch.zeros(12, 1)
    optimizer_G.zero_grad()
    z = torch.FloatTensor(np.random.normal(0, 1, (12, 6)))
    gen_labels = torch.LongTensor(np.random.randint(0, 5, 12))
    gen_imgs = generator(z, gen_labels)
    validity = discriminator(gen_imgs, gen_labels)
    g_loss = adversarial_loss(validity, valid)
    g_loss.backward()
    optimizer_G.step()
    optimizer_D.zero_grad()
    validity_real = discriminator(real_imgs, labels)
    d_real_loss = adversarial_loss(validity_real, valid)
    validity_fake = discriminator(gen_imgs.detach(), gen_labels)
    d_fake_loss = adversarial_loss(validity_fake, fake)
    d_loss = (d_real_loss + d_fake_loss) / 2
    d_loss.backward()
    optimizer_D.step()
    print(i, d_loss.item(), g_loss.item())
