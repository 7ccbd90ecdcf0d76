"""Fine-tuning on handwritten digits, as such a script is written: first the head alone, then all of it.

    python samples/train_digits.py --epochs 4
    gradtool stats samples/train_digits.py --steps 40 -- --epochs 4

It trains without complaint, and the body of the net stays as it was: the optimizer was made while only the head took
part, and nobody has told it of the layers that were thawed later.
"""

import argparse
from pathlib import Path

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.io import DataLoader, TensorDataset

DIGITS = Path(__file__).parent / "data" / "digits.npz"


class Net(nn.Layer):
    """Ten scores for every image [N, 1, 8, 8]."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2D(1, 8, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2D(2),
            nn.Conv2D(8, 16, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2D(2),
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))

    def forward(self, image):
        return self.head(self.body(image))


def digits():
    """Images from 0 to 1 with their labels: for training, and for validation."""
    with np.load(DIGITS) as file:
        images = paddle.to_tensor(file["images"][:, None].astype("float32") / 16)
        labels = paddle.to_tensor(file["labels"].astype("int64"))
    return TensorDataset([images[:480], labels[:480]]), (images[1500:], labels[1500:])


def set_trainable(layer, trainable):
    for parameter in layer.parameters():
        parameter.stop_gradient = not trainable


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--epochs", type=int, default=4)
    options.add_argument("--rate", type=float, default=0.05)
    arguments = options.parse_args()

    paddle.seed(1)
    np.random.seed(1)
    net = Net()
    training, (images, labels) = digits()
    set_trainable(net.body, False)
    rate = paddle.optimizer.lr.LinearWarmup(arguments.rate, warmup_steps=5, start_lr=0.0, end_lr=arguments.rate)
    optimizer = paddle.optimizer.Momentum(
        rate,
        parameters=[p for p in net.parameters() if not p.stop_gradient],
        grad_clip=nn.ClipGradByGlobalNorm(1.0),
    )
    for epoch in range(arguments.epochs):
        if epoch == 2:
            set_trainable(net.body, True)
        for image, label in DataLoader(training, batch_size=48, shuffle=True):
            loss = F.cross_entropy(net(image), label)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            rate.step()
        with paddle.no_grad():
            right = (net(images).argmax(1) == labels).astype("float32").mean()
        print(f"epoch {epoch}: loss {float(loss):.3f}, {float(right):.1%} of the validation images")


if __name__ == "__main__":
    main()
