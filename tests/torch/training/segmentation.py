"""A U-Net with dice and entropy, after milesial's Pytorch-UNet."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class DoubleConv(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.double_conv = nn.Sequential(
            nn.Conv2d(in_channels, out_channels, 3, padding=1, bias=False), nn.BatchNorm2d(out_channels), nn.ReLU(inplace=True),
            nn.Conv2d(out_channels, out_channels, 3, padding=1, bias=False), nn.BatchNorm2d(out_channels), nn.ReLU(inplace=True),
        )

    def forward(self, x):
        return self.double_conv(x)


class UNet(nn.Module):
    def __init__(self, n_classes=3):
        super().__init__()
        self.inc = DoubleConv(3, 4)
        self.down = nn.Sequential(nn.MaxPool2d(2), DoubleConv(4, 8))
        self.up = nn.ConvTranspose2d(8, 4, 2, 2)
        self.conv = DoubleConv(8, 4)
        self.outc = nn.Conv2d(4, n_classes, 1)

    def forward(self, x):
        x1 = self.inc(x)
        x2 = self.down(x1)
        x = self.up(x2)
        diffY, diffX = x1.size()[2] - x.size()[2], x1.size()[3] - x.size()[3]
        x = F.pad(x, [diffX // 2, diffX - diffX // 2, diffY // 2, diffY - diffY // 2])
        x = self.conv(torch.cat([x1, x], dim=1))
        return self.outc(x)


def dice_coeff(input, target, epsilon=1e-6):
    inter = 2 * (input * target).sum(dim=(-1, -2))
    sets_sum = input.sum(dim=(-1, -2)) + target.sum(dim=(-1, -2))
    sets_sum = torch.where(sets_sum == 0, inter, sets_sum)
    return ((inter + epsilon) / (sets_sum + epsilon)).mean()


def dice_loss(input, target):
    return 1 - dice_coeff(input.flatten(0, 1), target.flatten(0, 1))


torch.manual_seed(0)
model = UNet()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3, weight_decay=1e-8, momentum=0.9)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, "max", patience=2)
criterion = nn.CrossEntropyLoss()
images, true_masks = torch.rand(8, 3, 9, 9), torch.randint(0, 3, (8, 9, 9))
for epoch in range(2):
    model.train()
    for start in (0, 4):
        image, mask = images[start : start + 4], true_masks[start : start + 4]
        masks_pred = model(image)
        loss = criterion(masks_pred, mask)
        loss += dice_loss(F.softmax(masks_pred, dim=1).float(), F.one_hot(mask, 3).permute(0, 3, 1, 2).float())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    model.eval()
    with torch.no_grad():
        pred = F.one_hot(model(images).argmax(dim=1), 3).permute(0, 3, 1, 2).float()
        score = dice_coeff(pred.flatten(0, 1), F.one_hot(true_masks, 3).permute(0, 3, 1, 2).float().flatten(0, 1))
    scheduler.step(score)
    print(epoch, loss.item(), score.item())
