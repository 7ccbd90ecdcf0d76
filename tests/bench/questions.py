"""Commands about a program of many operators, beside building, differentiating and running it.

    python -m tests.bench questions                      # 100,000 operators
    python -m tests.bench questions --size 20k --commands stats 'stats --memory'

Every row is a fresh process; seconds are CPU time of the whole process, which a busy machine changes less than the
clock. ``bare`` is the program by itself: built, differentiated, run once. The target is twice that and a second.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.measuring import ROOT, number

MODEL = """
from gradtool import paddle
paddle.enable_static()
x = paddle.static.data("x", [2, 3], "float32")
h = paddle.static.nn.fc(x, 4, name="head")
for _ in range({size}):
    h = paddle.tanh(h)
loss = paddle.mean(h)
"""
BARE = """
import numpy as np
pairs = paddle.static.append_backward(loss)
executor = paddle.static.Executor()
executor.run(paddle.static.default_startup_program())
executor.run(feed={"x": np.ones((2, 3), "float32")}, fetch_list=[loss, *[g for _, g in pairs]])
"""
COMMANDS = ("backward", "why", "graph", "nan", "stats", "stats --memory")
OPTIONS = {"why": ["head.w_0"]}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench questions", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--size", default="100k", help="operators of the forward part: 500, 10k, 1M")
    parser.add_argument("--commands", nargs="*", default=COMMANDS, choices=COMMANDS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model, bare = Path(folder, "model.py"), Path(folder, "bare.py")
        model.write_text(MODEL.format(size=number(options.size)), encoding="utf-8")
        bare.write_text(model.read_text(encoding="utf-8") + BARE, encoding="utf-8")
        print(f"{'command':<16}{'seconds':>10}{'target':>10}")
        seconds = spent(str(bare))
        target = 2 * seconds + 1
        print(f"{'bare':<16}{seconds:>10.2f}", flush=True)
        for command in options.commands:
            arguments = [
                "-m",
                "gradtool",
                *command.split(),
                str(model),
                *OPTIONS.get(command, ()),
            ]
            print(f"{command:<16}{spent(*arguments):>10.2f}{target:>10.2f}", flush=True)


def spent(*arguments: str) -> float:
    """The CPU time of a process of Python with these arguments, its start included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, capture_output=True)
    assert done.stdout or "-c" not in arguments, "a command answers"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
