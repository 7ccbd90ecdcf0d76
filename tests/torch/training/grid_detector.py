"""Boxes from a grid of cells, after small YOLO implementations."""
import torch
import torch.nn as nn

torch.manual_seed(0)
S, B, C = 4, 1, 3


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.LeakyReLU(0.1),
            nn.Conv2d(8, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.LeakyReLU(0.1),
        )
        self.head = nn.Conv2d(16, B * 5 + C, 1)

    def forward(self, x):
        return self.head(self.features(x)).permute(0, 2, 3, 1)


def box_iou(a, b):
    a1, a2 = a[..., :2] - a[..., 2:] / 2, a[..., :2] + a[..., 2:] / 2
    b1, b2 = b[..., :2] - b[..., 2:] / 2, b[..., :2] + b[..., 2:] / 2
    inter = (torch.min(a2, b2) - torch.max(a1, b1)).clamp(min=0).prod(-1)
    union = a[..., 2:].prod(-1) + b[..., 2:].prod(-1) - inter
    return inter / (union + 1e-6)


class YoloLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.bce = nn.BCEWithLogitsLoss()
        self.mse = nn.MSELoss()
        self.entropy = nn.CrossEntropyLoss()
        self.lambda_noobj, self.lambda_box = 0.5, 5

    def forward(self, predictions, target):
        obj = target[..., 0] == 1
        noobj = target[..., 0] == 0
        no_object_loss = self.bce(predictions[..., 0:1][noobj], target[..., 0:1][noobj])
        box_preds = torch.cat([torch.sigmoid(predictions[..., 1:3]), torch.exp(predictions[..., 3:5].clamp(max=4))], dim=-1)
        ious = box_iou(box_preds[obj], target[..., 1:5][obj]).detach()
        object_loss = self.mse(torch.sigmoid(predictions[..., 0][obj]), ious)
        box_loss = self.mse(box_preds[obj], target[..., 1:5][obj])
        class_loss = self.entropy(predictions[..., 5:][obj], target[..., 5][obj].long())
        return self.lambda_box * box_loss + object_loss + self.lambda_noobj * no_object_loss + class_loss


model, loss_fn = Detector(), YoloLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-4)
for step in range(5):
    images = torch.rand(4, 3, 16, 16)
    target = torch.zeros(4, S, S, 6)
    cells = torch.randint(0, S, (4, 2))
    for n, (i, j) in enumerate(cells.tolist()):
        target[n, i, j] = torch.tensor([1.0, 0.5, 0.5, 1.2, 0.8, float(n % C)])
    out = model(images)
    loss = loss_fn(out, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
