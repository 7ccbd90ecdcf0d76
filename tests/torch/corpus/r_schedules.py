"""Schedules of every kind, each stepped as it counts: by batches, by epochs, by a metric, within others."""

# expect: nothing

import torch
from torch import nn
from torch.optim import lr_scheduler as lr
from torch.utils.data import DataLoader, TensorDataset


class Slower(lr.StepLR):
    """A schedule of the script's own, which steps that of torch."""

    def step(self, epoch=None):
        super().step()


torch.manual_seed(0)
x = torch.randn(8, 2)
loader = DataLoader(TensorDataset(x, (x[:, 0] > 0).long()), batch_size=4)
EPOCHS, STEPS = 3, 6
AFTER_BATCHES = [
    lambda optimizer: lr.OneCycleLR(optimizer, 0.1, total_steps=STEPS),
    lambda optimizer: lr.CyclicLR(optimizer, 0.01, 0.1, step_size_up=2),
    lambda optimizer: lr.SequentialLR(
        optimizer, [lr.LinearLR(optimizer, 0.1, total_iters=2), lr.CosineAnnealingLR(optimizer, 4)], [2]
    ),
    lambda optimizer: lr.LinearLR(optimizer, 0.01, total_iters=2),
    lambda optimizer: lr.LambdaLR(optimizer, lambda step: min(1.0, step / 3)),
]
AFTER_EPOCHS = [
    lambda optimizer: lr.CosineAnnealingLR(optimizer, EPOCHS),
    lambda optimizer: lr.MultiStepLR(optimizer, [1, 2]),
    lambda optimizer: lr.ChainedScheduler([lr.ConstantLR(optimizer, 0.5, 1), lr.ExponentialLR(optimizer, 0.9)]),
    lambda optimizer: Slower(optimizer, 2),
    lambda optimizer: lr.ReduceLROnPlateau(optimizer, patience=1),
]
for make in AFTER_BATCHES + AFTER_EPOCHS:
    net = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    scheduler = make(optimizer)
    for epoch in range(EPOCHS):
        for inputs, labels in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(inputs), labels)
            loss.backward()
            optimizer.step()
            if make in AFTER_BATCHES:
                scheduler.step()
        if isinstance(scheduler, lr.ReduceLROnPlateau):
            scheduler.step(loss.detach())
        elif make in AFTER_EPOCHS:
            scheduler.step()
