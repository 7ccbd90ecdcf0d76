"""The LeNet of lenet_digits.py in dynamic mode: a layer, `loss.backward()`, and an optimizer.

Train it (a second)::

    python samples/eager_digits.py

See its backward part::

    gradtool backward samples/eager_digits.py

Every line of `forward` computes at once, and `loss.backward()` fills `.grad` of the parameters; there is no program.
The operators and their gradient rules are those of static mode: started from the same parameters and fed the same
batches, both learn along the same curve.
"""

from pathlib import Path

import numpy as np

import gradtool

gradtool.as_paddle()  # from here on `import paddle` finds gradtool

import paddle  # noqa: E402
import paddle.nn.functional as F  # noqa: E402
from paddle import nn  # noqa: E402

paddle.disable_static()

DIGITS = Path(__file__).parent / "data" / "digits.npz"
TRAINING_IMAGES = 1500  # the other 297 are only looked at to measure accuracy


class LeNet(nn.Layer):
    """Ten scores for every image [N, 1, 8, 8]."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2D(1, 6, kernel_size=3, padding=1)
        self.conv2 = nn.Conv2D(6, 16, kernel_size=3, padding=1)
        self.hidden = nn.Linear(64, 48)
        self.scores = nn.Linear(48, 10)

    def forward(self, image):
        h = F.max_pool2d(F.relu(self.conv1(image)), kernel_size=2, stride=2)  # [N, 6, 4, 4]
        h = F.max_pool2d(F.relu(self.conv2(h)), kernel_size=2, stride=2)  # [N, 16, 2, 2]
        h = F.relu(self.hidden(paddle.flatten(h, 1)))  # [N, 48]
        return self.scores(h)


def digits():
    """Images [1797, 1, 8, 8] from 0 to 1, and labels [1797, 1]."""
    with np.load(DIGITS) as file:
        images = file["images"][:, None].astype("float32") / 16
        labels = file["labels"][:, None].astype("int64")
    return images, labels


def batches(shuffle, size=50):
    """The training images in another order each time: images [size, 1, 8, 8] and labels [size, 1]."""
    images, labels = digits()
    for rows in np.split(shuffle.permutation(TRAINING_IMAGES), TRAINING_IMAGES // size):
        yield images[rows], labels[rows]


def loss_of(net, image, label):
    return F.cross_entropy(net(image), label)


def build():
    """What the command line asks for: a loss, and the layer that it belongs to."""
    images, labels = digits()
    net = LeNet()
    return loss_of(net, paddle.to_tensor(images[:32]), paddle.to_tensor(labels[:32])), net


def train(net=None, epochs=8, rate=0.05, momentum=0.9):
    """Train *net* (a fresh one by default); returns the mean loss of each epoch and the accuracy at the end."""
    paddle.seed(1)
    shuffle = np.random.default_rng(1)
    net = net or LeNet()
    descent = paddle.optimizer.Momentum(learning_rate=rate, momentum=momentum, parameters=net.parameters())

    history = []
    for epoch in range(epochs):
        losses = []
        for image, label in batches(shuffle):
            loss = loss_of(net, paddle.to_tensor(image), paddle.to_tensor(label))
            loss.backward()
            descent.step()
            descent.clear_grad()
            losses.append(float(loss))
        history.append(sum(losses) / len(losses))
        print(f"epoch {epoch + 1}   loss {history[-1]:.4f}")

    images, labels = digits()
    with paddle.no_grad():
        predicted = net(paddle.to_tensor(images[TRAINING_IMAGES:])).numpy().argmax(1)
    accuracy = float((predicted == labels[TRAINING_IMAGES:, 0]).mean())
    print(f"accuracy on {len(predicted)} digits that it has not seen: {accuracy:.1%}")
    return history, accuracy


if __name__ == "__main__":
    train()
