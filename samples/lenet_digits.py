"""A LeNet that learns to read real handwritten digits.

Train it (a second)::

    python samples/lenet_digits.py

See its backward part::

    gradtool backward samples/lenet_digits.py --run

The network is written in Paddle's public API. `append_backward` adds the operators that compute the gradients;
updating the parameters is left to a plain NumPy loop, so that nothing stays hidden.
"""

from pathlib import Path

import numpy as np

import gradtool

gradtool.as_paddle()  # from here on `import paddle` finds gradtool

import paddle  # noqa: E402
import paddle.nn.functional as F  # noqa: E402

paddle.enable_static()

DIGITS = Path(__file__).parent / "data" / "digits.npz"
TRAINING_IMAGES = 1500  # the other 297 are only looked at to measure accuracy


def digits():
    """Images [1797, 1, 8, 8] from 0 to 1, and labels [1797, 1]."""
    with np.load(DIGITS) as file:
        images = file["images"][:, None].astype("float32") / 16
        labels = file["labels"][:, None].astype("int64")
    return images, labels


def network():
    """The loss of a batch and the ten scores of every image."""
    image = paddle.static.data("image", [None, 1, 8, 8], "float32")
    label = paddle.static.data("label", [None, 1], "int64")

    h = paddle.static.nn.conv2d(image, num_filters=6, filter_size=3, padding=1, act="relu")  # [N, 6, 8, 8]
    h = F.max_pool2d(h, kernel_size=2, stride=2)  # [N, 6, 4, 4]
    h = paddle.static.nn.conv2d(h, num_filters=16, filter_size=3, padding=1, act="relu")  # [N, 16, 4, 4]
    h = F.max_pool2d(h, kernel_size=2, stride=2)  # [N, 16, 2, 2]
    h = paddle.static.nn.fc(h, size=48, activation="relu")  # [N, 48]
    scores = paddle.static.nn.fc(h, size=10)  # [N, 10]

    return F.cross_entropy(scores, label), scores


def build():
    """What the command line asks for: the loss, and something to feed."""
    images, labels = digits()
    loss, _ = network()
    return loss, {"image": images[:32], "label": labels[:32]}


def train(epochs=8, batch=50, rate=0.05, momentum=0.9):
    """Stochastic gradient descent with momentum; returns the mean loss of each epoch and the accuracy at the end."""
    images, labels = digits()
    paddle.seed(1)
    shuffle = np.random.default_rng(1)

    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        loss, scores = network()
        test = main.clone(for_test=True)  # the forward part alone
        pairs = paddle.static.append_backward(loss)

    place = paddle.CPUPlace()
    exe = paddle.static.Executor(place)
    exe.run(startup)  # gives every parameter its first value
    values = {p.name: paddle.static.global_scope().find_var(p.name).get_tensor() for p, _ in pairs}
    speed = {name: np.zeros(value.shape(), "float32") for name, value in values.items()}

    history = []
    for epoch in range(epochs):
        losses = []
        order = shuffle.permutation(TRAINING_IMAGES)
        for rows in np.split(order, TRAINING_IMAGES // batch):
            feed = {"image": images[rows], "label": labels[rows]}
            found, *grads = exe.run(main, feed=feed, fetch_list=[loss, *(g for _, g in pairs)])
            losses.append(float(found))
            for (p, _), gradient in zip(pairs, grads, strict=True):
                speed[p.name] = momentum * speed[p.name] - rate * gradient
                values[p.name].set(np.array(values[p.name]) + speed[p.name], place)
        history.append(sum(losses) / len(losses))
        print(f"epoch {epoch + 1}   loss {history[-1]:.4f}")

    feed = {"image": images[TRAINING_IMAGES:], "label": labels[TRAINING_IMAGES:]}
    (predicted,) = exe.run(test, feed=feed, fetch_list=[scores.name])
    accuracy = float((predicted.argmax(1)[:, None] == feed["label"]).mean())
    print(f"accuracy on {len(predicted)} digits that it has not seen: {accuracy:.1%}")
    return history, accuracy


if __name__ == "__main__":
    train()
