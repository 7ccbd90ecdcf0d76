"""What recording costs: ``python -m tests.torch.overhead [WIDTH …]`` trains nets of each width with and without it.

Needs torch. Told is the time of one thread, so that what else the machine does counts little; nothing is asserted.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

STEPS = 5
BATCH = 256


def train(width: int) -> Callable[[], None]:
    """A function that trains a net of four hidden layers for some steps."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    layers: list[Any] = []
    for _ in range(4):
        layers += [nn.Linear(width, width), nn.ReLU()]
    net = nn.Sequential(*layers, nn.Linear(width, 10))
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    x, y = torch.randn(BATCH, width), torch.randint(0, 10, (BATCH,))

    def run() -> None:
        for _ in range(STEPS):
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()

    return run


def seconds(width: int, recorded: bool) -> float:
    """The best of three runs, in seconds a step."""
    from gradtool.engine.eager.journal import keep_journal
    from gradtool.engine.recorders.pytorch.recorder import TorchRecorder
    from gradtool.engine.recorders.recorded.frameworks import TORCH
    from gradtool.engine.recorders.recorded.player import Player

    run = train(width)
    run()
    best = float("inf")
    for _ in range(3):
        recorder = TorchRecorder(Player(TORCH)).record() if recorded else nullcontext()
        with keep_journal() if recorded else nullcontext(), recorder:
            start = time.process_time()
            run()
            best = min(best, time.process_time() - start)
    return best / STEPS


def main() -> None:
    """Measure the widths that are asked for."""
    import torch

    torch.set_num_threads(1)
    for width in map(int, sys.argv[1:] or ["256", "512", "1024"]):
        plain, recorded = seconds(width, False), seconds(width, True)
        print(
            f"width {width:5d}, batch {BATCH}: torch {1e3 * plain:6.2f} ms a step, recorded {1e3 * recorded:6.2f} ms, "
            f"{recorded / plain:.2f} times"
        )


if __name__ == "__main__":
    main()
