"""Recomputation: a transformer that trains in a fraction of the memory.

Train it with and without (some seconds)::

    python samples/recomputed_transformer.py

See which values backward keeps, what runs again, and what that saves; or say how much there may be::

    gradtool backward samples/recomputed_transformer.py --checkpoints auto
    gradtool backward samples/recomputed_transformer.py --memory-budget 1M

Twelve blocks learn to sort the digits that they read. Backward needs what each block computed on the way, which is most
of the memory that training takes. With checkpoints it keeps what a few blocks handed on, and computes the rest again,
one stretch of blocks after another: the gradients are the same to the bit, dropout included.

In dynamic mode, `paddle.distributed.fleet.utils.recompute` does the same for a part of a model; see `dynamic` below.
"""

import numpy as np

import gradtool

gradtool.as_paddle()  # from here on `import paddle` finds gradtool

import paddle  # noqa: E402
import paddle.nn.functional as F  # noqa: E402
from paddle.distributed.fleet.utils import recompute  # noqa: E402
from paddle.incubate.optimizer import RecomputeOptimizer  # noqa: E402

paddle.enable_static()

DIGITS, LENGTH, WIDTH, HEADS, BLOCKS = 10, 8, 32, 4, 12


def batch(count, seed):
    """Rows of digits, and the same rows sorted."""
    digits = np.random.default_rng(seed).integers(0, DIGITS, (count, LENGTH))
    return {"digits": digits, "sorted": np.sort(digits, axis=1)[..., None]}


class Sorter(paddle.nn.Layer):
    """What stands at each place once the digits are sorted, as scores for every digit."""

    def __init__(self, dropout=0.05):
        super().__init__()
        self.digits = paddle.nn.Embedding(DIGITS, WIDTH)
        self.places = paddle.create_parameter([LENGTH, WIDTH], "float32")
        self.blocks = paddle.nn.LayerList(
            [
                paddle.nn.TransformerEncoderLayer(WIDTH, HEADS, 2 * WIDTH, dropout, normalize_before=True)
                for _ in range(BLOCKS)
            ]
        )
        self.scores = paddle.nn.Linear(WIDTH, DIGITS)

    def forward(self, digits, recomputing=False):
        """The scores, and what every block made."""
        h = self.digits(digits) + self.places
        made = []
        for block in self.blocks:
            h = recompute(block, h) if recomputing else block(h)
            made.append(h)
        return self.scores(h), made


def network(count=None):
    """The loss, and what every block made."""
    digits = paddle.static.data("digits", [count, LENGTH], "int64")
    places = paddle.static.data("sorted", [count, LENGTH, 1], "int64")
    scores, made = Sorter()(digits)
    return F.cross_entropy(scores, places), made


def build():
    """What the command line asks for: the loss, and something to feed."""
    loss, _ = network()
    return loss, batch(32, seed=0)


def train(checkpoints=None, steps=40):
    """Adam on small batches.

    Args:
        checkpoints: a function that picks from what the blocks made, or "auto".

    Returns:
        The loss of every step, and the bytes of values and gradients that a step holds at its peak.
    """
    paddle.seed(1)
    main, startup = paddle.static.Program(), paddle.static.Program()
    main.random_seed = startup.random_seed = 5  # the same first values, and dropout draws the same in every run
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
        loss, made = network(32)
        optimizer = paddle.optimizer.Adam(3e-3)
        if checkpoints is not None:
            optimizer = RecomputeOptimizer(optimizer)
            optimizer._set_checkpoints(checkpoints if checkpoints == "auto" else checkpoints(made))
        optimizer.minimize(loss)

    exe = paddle.static.Executor(paddle.CPUPlace())
    with paddle.static.scope_guard(paddle.static.Scope()):
        exe.run(startup)
        peak = exe.peak(main, batch(32, seed=0), [loss]).nbytes
        history = [float(exe.run(main, feed=batch(32, seed), fetch_list=[loss])[0]) for seed in range(steps)]
    return history, peak


def dynamic(recomputing, steps=3):
    """The losses of a few steps in dynamic mode, every block called through ``recompute`` or plainly."""
    paddle.disable_static()
    try:
        paddle.seed(1)
        model = Sorter()
        optimizer = paddle.optimizer.Adam(3e-3, parameters=model.parameters())
        history = []
        for seed in range(steps):
            given = {n: paddle.to_tensor(v) for n, v in batch(32, seed).items()}
            scores, _ = model(given["digits"], recomputing)
            loss = F.cross_entropy(scores, given["sorted"])
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            history.append(loss.item())
        return history
    finally:
        paddle.enable_static()


def main():
    for name, checkpoints in (
        ("nothing runs again", None),
        ("every third block kept", lambda made: made[2:-1:3]),
        ("chosen automatically", "auto"),
    ):
        history, peak = train(checkpoints)
        print(f"{name:<24} {peak / 2**20:6.2f} MiB at the peak   loss {history[0]:.4f} -> {history[-1]:.4f}")
    same = dynamic(recomputing=True) == dynamic(recomputing=False)
    print(f"dynamic mode: the losses with recompute are {'the same' if same else 'different'}")


if __name__ == "__main__":
    main()
