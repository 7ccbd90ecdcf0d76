"""Gradients over time: what a training costs that is listened to, beside the same training alone.

    python -m tests.bench over_time
    python -m tests.bench over_time --widths 512 --steps 50

A net of three layers, Adam; milliseconds of a step, the best of the rounds. What is measured is what
``gradtool stats --steps`` adds: every gradient and every weight is read once.
"""

from __future__ import annotations

import argparse
import contextlib
from typing import Any

from tests.bench.measuring import timed

TARGET = 50.0
"""Percent that listening may add on layers of 512."""


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench over_time", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--widths", nargs="*", type=int, default=[32, 128, 512], help="of the layers")
    parser.add_argument("--steps", type=int, default=40, help="of each training")
    parser.add_argument("--rounds", type=int, default=5, help="trainings of each kind, in turn")
    options = parser.parse_args()
    print(f"{'width':<10}{'alone ms':>12}{'heard ms':>12}{'more':>10}")
    for width in options.widths:
        alone, heard = [], []
        for _ in range(options.rounds):
            alone.append(training(width, options.steps, listened=False))
            heard.append(training(width, options.steps, listened=True))
        share = 100 * (min(heard) / min(alone) - 1)
        print(f"{width:<10}{min(alone):>12.2f}{min(heard):>12.2f}{share:>9.0f} %")
    print(f"target: at most {TARGET:g} % at a width of 512")


def training(width: int, steps: int, listened: bool) -> float:
    """Milliseconds of a step."""
    from gradtool import paddle
    from gradtool.engine.questions.over_time import Listening

    paddle.seed(1)
    nn = paddle.nn
    net = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10))
    adam = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    x, y = paddle.randn([128, width]), paddle.randint(0, 10, [128])

    def step() -> None:
        nn.functional.cross_entropy(net(x), y).backward()
        adam.step()
        adam.clear_grad()

    def all_steps() -> None:
        for _ in range(steps):
            step()

    step()  # the first one binds operators
    listening: Any = Listening() if listened else contextlib.nullcontext()
    with listening:
        _, seconds = timed(all_steps)
    return 1000 * seconds / steps


if __name__ == "__main__":
    main()
